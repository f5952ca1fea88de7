-- Gives every shard of a run to this owner that no living owner has. What belongs to the run is kept
-- as long as somebody looks after its shards, however long a batch takes.
-- Arguments: run, owner.
-- Answers for each that it has now, by their numbers: number, step.

local run, owner, answer = ARGV[4], ARGV[5], {}

local function is_gone(other)
  local until_then = redis.call('ZSCORE', key('batch_owners'), other)
  return not until_then or tonumber(until_then) < now
end

for _, number in ipairs(numbers_of(run)) do
  number = whole(number)
  local shard = shard_of(run, number)
  if shard.owner ~= owner and is_gone(shard.owner) then
    shard.owner = owner
    write_shard(run, number, owner, shard.step)
  end
  if shard.owner == owner then
    answer[#answer + 1] = number
    answer[#answer + 1] = shard.step
  end
end
if #answer > 0 then keep_for_a_while(run) end
return answer
