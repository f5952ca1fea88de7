-- Says how many results a run will have, and so that no more jobs will come; what belongs to it is
-- kept for a while from here on. Cancelling closes with what was published, unless it was closed
-- before. Jobs that were sent again in the meantime are counted on top.
-- Arguments: run; 'close' and their number, or 'cancel' and nothing; for how long (ms).
-- Answers: whether there is such a run (1 or 0).

local run, record = ARGV[4], key('run', ARGV[4])
if redis.call('EXISTS', record) == 0 then return { '0' } end
local results
if ARGV[5] == 'close' then
  results = ARGV[6]
else
  redis.call('HSET', record, 'cancelled', '1')
  if redis.call('HEXISTS', record, 'expected') == 0 then
    results = redis.call('HGET', record, 'published') or '0'
  end
end
if results then
  redis.call('HSET', record, 'expected', results)
  redis.call('HINCRBY', record, 'expected', redis.call('SCARD', key('replayed', run)))
end
redis.call('HSET', record, 'kept', ARGV[7])
keep_for_a_while(run)
tell_changes()
return { '1' }
