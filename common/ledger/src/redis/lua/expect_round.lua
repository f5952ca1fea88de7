-- Records that a job is about to be published again, in this round: a closed run expects one more
-- result, and closing a run adds it. Recording it twice counts once.
-- Arguments: run, job, round.
-- Returns: whether there is such a run (1 or 0).

local run, record = ARGV[4], key('run', ARGV[4])
if redis.call('EXISTS', record) == 0 then return { '0' } end
local first = redis.call('SADD', key('replayed', run), ARGV[5] .. ':' .. ARGV[6]) == 1
if first and redis.call('HEXISTS', record, 'expected') == 1 then
  redis.call('HINCRBY', record, 'expected', 1)
  redis.call('HDEL', record, 'progress')
end
extend_retention(run)
return { '1' }
