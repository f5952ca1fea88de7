-- Records how far a shard has come; one that is collected is forgotten.
-- Arguments: run, number, owner, the step or nothing.
-- Answers: whether it is the owner's (1 or 0); otherwise nothing is recorded.

local run, number, owner, step = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local shard = shard_of(run, number)
if not shard or shard.owner ~= owner then return { '0' } end
if step == '' then
  forget_shard(run, number)
else
  write_shard(run, number, owner, step)
end
keep_for_a_while(run)
return { '1' }
