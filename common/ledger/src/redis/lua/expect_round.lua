-- Says that a job is about to be sent again, in this round: a closed run has one result more to
-- wait for, and closing one will count it. Saying it twice counts once.
-- Arguments: run, job, round.
-- Answers: whether there is such a run (1 or 0).

local run, record = ARGV[4], key('run', ARGV[4])
if redis.call('EXISTS', record) == 0 then return { '0' } end
local first = redis.call('SADD', key('replayed', run), ARGV[5] .. ':' .. ARGV[6]) == 1
if first and redis.call('HEXISTS', record, 'expected') == 1 then
  redis.call('HINCRBY', record, 'expected', 1)
  redis.call('HDEL', record, 'progress')
end
keep_for_a_while(run)
return { '1' }
