-- Sets the time zone in which days and months begin.
-- Arguments: its name; its offsets from UTC in seconds, as in '0:3600 1806195600000:7200', each after
-- the time from which it applies (milliseconds since 1970).
-- Returns: the previous name (empty: UTC).

local before = redis.call('HGET', key('zone'), 'name') or ''
redis.call('HSET', key('zone'), 'name', ARGV[4], 'offsets', ARGV[5])
notify_changes()
return { before }
