-- Ends the filling of a shard; the rows of some jobs are not in its file.
-- Arguments: run, number, owner, the step; the shard that those rows move to, and their jobs.
-- Returns: whether it has this owner (1 or 0).

local run, number = ARGV[4], ARGV[5]
local shard = shard_of(run, number)
if not shard or shard.owner ~= ARGV[6] then return { '0' } end
write_shard(run, number, shard.owner, ARGV[7])
for position = 9, #ARGV do move_batch_row(run, ARGV[position], number, ARGV[8]) end
return { '1' }
