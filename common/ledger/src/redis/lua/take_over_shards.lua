-- Transfers every shard of a run without a living owner to this one. The run's records are kept as long
-- as its shards have an owner, however long a batch takes.
-- Arguments: run, owner.
-- Returns for each that it owns now, sorted by number: number, step.

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
if #answer > 0 then extend_retention(run) end
return answer
