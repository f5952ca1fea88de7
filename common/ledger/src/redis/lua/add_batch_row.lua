-- Adds an open row to a shard that is being filled, in place of a closed row of its job.
-- Arguments: run, number of the shard, owner, its step while it is being filled; job, round, lease,
-- record.
-- Returns: added · under_way (the job has an open row) · refused (it is not being filled any more, or has
-- another owner).

local run, number, job = ARGV[4], ARGV[5], ARGV[8]
local shard = shard_of(run, number)
if not shard or shard.owner ~= ARGV[6] or shard.step ~= ARGV[7] then return { 'refused' } end
local earlier = batch_row(run, job)
if earlier and earlier.open == '1' then
  -- The same row: the reply to its first request was lost.
  if earlier.lease == ARGV[10] then return { 'added' } end
  return { 'under_way' }
end
write_batch_row(run, job,
  { round = ARGV[9], open = '1', shard = number, lease = ARGV[10], record = ARGV[11] })
extend_retention(run)
return { 'added' }
