-- Records the heartbeat of these owners, and presumes spent the leases of owners without one.
-- Arguments: retention of leases (ms), whether the caller has seen the ledger in use (1 or
-- 0), then the owners.
-- Until the ledger is reconciled, a missing heartbeat proves nothing: the server was down itself.
-- Returns: whether the server was emptied (1 or 0), so that processes have to register with it.

detect_emptied(ARGV[5])
for position = 6, #ARGV do beat(ARGV[position]) end
if admission_suspended() then
  return { whole(redis.call('HEXISTS', key('ledger'), 'emptied')) }
end
local since = '(' .. whole(now - OWNER_TIMEOUT)
local presumed = 0
for _, owner in ipairs(redis.call('ZRANGEBYSCORE', key('owners'), '-inf', since)) do
  presumed = presumed + presume_owner(owner, ARGV[4])
end
if presumed > 0 then notify_changes() end
return { '0' }
