-- Says how many jobs a run has, and so that no more will come; what belongs to it is kept for a
-- while from here on. Cancelling closes with what was published, unless it was closed before.
-- Arguments: run; 'close' and the number of jobs, or 'cancel' and nothing; for how long (ms).
-- Answers: whether there is such a run (1 or 0).

local run, record = ARGV[4], key('run', ARGV[4])
if redis.call('EXISTS', record) == 0 then return { '0' } end
if ARGV[5] == 'close' then
  redis.call('HSET', record, 'jobs', ARGV[6])
else
  redis.call('HSET', record, 'cancelled', '1')
  redis.call('HSETNX', record, 'jobs', redis.call('HGET', record, 'published') or '0')
end
redis.call('HSET', record, 'kept', ARGV[7])
keep_for_a_while(run)
return { '1' }
