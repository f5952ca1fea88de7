-- What is known of a run. Arguments: run.
-- Answers: record, jobs, published, cancelled, each maybe nothing; no record: no such run.

local status = redis.call('HMGET', key('run', ARGV[4]), 'record', 'jobs', 'published', 'cancelled')
for position = 1, 4 do status[position] = status[position] or '' end
return status
