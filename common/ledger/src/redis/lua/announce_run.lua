-- Says what a run is. Opens it again if it was closed, cancelled or paused: what belongs to it is kept.
-- Arguments: run, record.

local run = ARGV[4]
redis.call('HSET', key('run', run), 'record', ARGV[5])
redis.call('HDEL', key('run', run), 'expected', 'published', 'cancelled', 'paused', 'progress', 'kept',
  'unusable')
-- Closing it will count whatever is sent from here on.
redis.call('DEL', key('replayed', run))
redis.call('ZADD', key('runs'), whole(now), run)
local kinds = {
  'claims', 'carried', 'results', 'run', 'batch_rows', 'batch_places', 'batch_shards',
}
for _, kind in ipairs(kinds) do
  redis.call('PERSIST', key(kind, run))
end
tell_changes()
return {}
