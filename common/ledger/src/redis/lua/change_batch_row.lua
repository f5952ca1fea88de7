-- Changes a row, unless it was replaced. Arguments: run, job, lease, and one of:
-- 'close' and its record now · 'detach' (only a closed one) · 'remove'.

local run, job, how = ARGV[4], ARGV[5], ARGV[7]
local row = batch_row(run, job)
if not row or row.lease ~= ARGV[6] then return {} end
if how == 'remove' then
  remove_batch_row(run, job)
elseif how == 'close' and row.open == '1' then
  row.open, row.record = '0', ARGV[8]
  write_batch_row(run, job, row)
elseif how == 'detach' and row.open == '0' then
  row.shard = '0'
  write_batch_row(run, job, row)
end
return {}
