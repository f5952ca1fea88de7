-- Presumes spent what the leases of a complete run hold: each of its jobs has its result, so no
-- result tells what those calls cost. A bill that still comes replaces its presumption.
-- Arguments: run, for how long to keep the leases (ms).
-- Answers: how many leases.

local run, kept = ARGV[4], ARGV[5]
local outstanding = redis.call('HGET', key('account', 'run', run), 'outstanding')
-- Nearly always: to look through the leases of all owners would cost more.
if not outstanding or outstanding == '0' then return { '0' } end
local closed = 0
for _, owner in ipairs(redis.call('ZRANGE', key('owners'), 0, -1)) do
  for _, id in ipairs(redis.call('SMEMBERS', key('held', owner))) do
    if redis.call('HGET', key('lease', id), 'run') == run and presume(id, kept) then
      closed = closed + 1
    end
  end
end
if closed > 0 then tell_changes() end
return { whole(closed) }
