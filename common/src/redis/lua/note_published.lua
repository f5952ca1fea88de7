-- Notes how many jobs of a run have been published so far. Arguments: run, number of jobs.
-- Answers: whether there is such a run (1 or 0).

local record = key('run', ARGV[4])
if redis.call('EXISTS', record) == 0 then return { '0' } end
redis.call('HSET', record, 'published', ARGV[5])
return { '1' }
