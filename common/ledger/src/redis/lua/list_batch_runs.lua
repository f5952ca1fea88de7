-- Runs that have shards. Expired ones are removed.

local runs = {}
for _, run in ipairs(redis.call('SMEMBERS', key('batch_runs'))) do
  if has_shards(run) then runs[#runs + 1] = run end
end
return runs
