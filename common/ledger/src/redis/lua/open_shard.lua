-- Begins a shard that is being filled. Arguments: run, owner, the step.
-- Answers: its number.

local run = ARGV[4]
local number = whole(redis.call('HINCRBY', key('batch_shards', run), 'last', 1))
write_shard(run, number, ARGV[5], ARGV[6])
keep_for_a_while(run)
return { number }
