-- Records that a worker does not have a file of the job. Arguments: run, job.
-- Returns: the number of workers recorded before.

local missed = redis.call('HINCRBY', key('carried', ARGV[4]), ARGV[5] .. ':missed', 1)
return { whole(missed - 1) }
