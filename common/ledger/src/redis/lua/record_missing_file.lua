-- Counts a worker that does not have a file of the job. Arguments: run, job.
-- Answers: how many before it did not either.

local missed = redis.call('HINCRBY', key('carried', ARGV[4]), ARGV[5] .. ':missed', 1)
return { whole(missed - 1) }
