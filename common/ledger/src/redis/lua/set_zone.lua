-- Lets days and months begin in another time zone from now on.
-- Arguments: its name; its offsets from UTC in seconds, as in '0:3600 1806195600000:7200', each after
-- the time from which on it holds (milliseconds since 1970).
-- Answers: the name before (nothing: UTC).

local before = redis.call('HGET', key('zone'), 'name') or ''
redis.call('HSET', key('zone'), 'name', ARGV[4], 'offsets', ARGV[5])
tell_changes()
return { before }
