-- Records the step of a shard; a collected one is deleted.
-- Arguments: run, number, owner, the step or empty.
-- Returns: whether it has this owner (1 or 0); otherwise nothing is recorded.

local run, number, owner, step = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local shard = shard_of(run, number)
if not shard or shard.owner ~= owner then return { '0' } end
if step == '' then
  forget_shard(run, number)
else
  write_shard(run, number, owner, step)
end
extend_retention(run)
return { '1' }
