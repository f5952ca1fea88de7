-- Presumes spent the leases of a complete run: each of its jobs has its result, so the cost of those
-- calls is in none. A bill that arrives later replaces the presumed cost.
-- Arguments: run, retention of the leases (ms).
-- Returns: the number of leases.

local run, kept = ARGV[4], ARGV[5]
local outstanding = redis.call('HGET', key('account', 'run', run), 'outstanding')
-- The usual case, which saves a search through the leases of all owners.
if not outstanding or outstanding == '0' then return { '0' } end
local closed = 0
for _, owner in ipairs(redis.call('ZRANGE', key('owners'), 0, -1)) do
  for _, id in ipairs(redis.call('SMEMBERS', key('held', owner))) do
    if redis.call('HGET', key('lease', id), 'run') == run and presume(id, kept) then
      closed = closed + 1
    end
  end
end
if closed > 0 then notify_changes() end
return { whole(closed) }
