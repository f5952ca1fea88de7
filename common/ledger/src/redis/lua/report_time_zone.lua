-- Time zone in which days and months begin.
-- Returns: its name (empty: UTC).

return { redis.call('HGET', key('zone'), 'name') or '' }
