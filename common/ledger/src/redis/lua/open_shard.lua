-- Opens a shard to be filled. Arguments: run, owner, the step.
-- Returns: its number.

local run = ARGV[4]
local number = whole(redis.call('HINCRBY', key('batch_shards', run), 'last', 1))
write_shard(run, number, ARGV[5], ARGV[6])
extend_retention(run)
return { number }
