-- Tells the time zone in which days and months begin.
-- Answers: its name (nothing: UTC).

return { redis.call('HGET', key('zone'), 'name') or '' }
