-- Moves the rows of a shard into others, which are planned with it; the shard itself ends.
-- Arguments: run, number, owner, the step of the others; then for each its number, how many jobs, and
-- the jobs.
-- Returns: whether it has this owner (1 or 0).

local run, number, owner, step = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local shard = shard_of(run, number)
if not shard or shard.owner ~= owner then return { '0' } end
local position = 8
while position <= #ARGV do
  local part, jobs = ARGV[position], tonumber(ARGV[position + 1])
  for job = position + 2, position + 1 + jobs do move_batch_row(run, ARGV[job], number, part) end
  write_shard(run, part, owner, step)
  position = position + 2 + jobs
end
forget_shard(run, number)
return { '1' }
