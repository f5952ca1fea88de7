-- Closes a run: sets how many results it will have, since no more jobs will come; its records expire
-- some time after their last use. Cancelling closes it with the jobs published so far, unless it was
-- closed before, and ends its pause: its batches are cancelled and collected. Jobs that were resent in
-- the meantime are added.
-- Arguments: run; 'close' and their number, or 'cancel' and nothing; retention (ms).
-- Returns: whether there is such a run (1 or 0).

local run, record = ARGV[4], key('run', ARGV[4])
if redis.call('EXISTS', record) == 0 then return { '0' } end
local results
if ARGV[5] == 'close' then
  results = ARGV[6]
else
  redis.call('HSET', record, 'cancelled', '1')
  redis.call('HDEL', record, 'paused')
  if redis.call('HEXISTS', record, 'expected') == 0 then
    results = redis.call('HGET', record, 'published') or '0'
  end
end
if results then
  redis.call('HSET', record, 'expected', results)
  redis.call('HINCRBY', record, 'expected', redis.call('SCARD', key('replayed', run)))
end
redis.call('HDEL', record, 'retrying')
redis.call('HSET', record, 'kept', ARGV[7])
extend_retention(run)
notify_changes()
return { '1' }
