-- Announces a run. Reopens it if it was closed, cancelled or paused: its records are kept.
-- Arguments: run, record.

local run = ARGV[4]
redis.call('HSET', key('run', run), 'record', ARGV[5])
redis.call('HDEL', key('run', run), 'expected', 'published', 'cancelled', 'paused', 'progress', 'kept',
  'unusable')
-- Closing it will count the jobs sent from here on.
redis.call('DEL', key('replayed', run))
redis.call('ZADD', key('runs'), whole(now), run)
local kinds = {
  'claims', 'carried', 'results', 'run', 'batch_rows', 'batch_places', 'batch_shards',
}
for _, kind in ipairs(kinds) do
  redis.call('PERSIST', key(kind, run))
end
notify_changes()
return {}
