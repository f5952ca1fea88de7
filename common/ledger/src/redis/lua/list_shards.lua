-- The shards of a run. Arguments: run.
-- Returns for each, sorted by number: number, step.

local run, answer = ARGV[4], {}
for _, number in ipairs(numbers_of(run)) do
  answer[#answer + 1] = whole(number)
  answer[#answer + 1] = shard_of(run, whole(number)).step
end
return answer
