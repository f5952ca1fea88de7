-- Releases a lease whose call was not charged, and its place in the queue. Arguments: lease.

local id = ARGV[4]
remove_place(id)
cancel_reservation(id)
local lease = lease_of(id)
if lease and lease.lease_state == 'outstanding' then
  for _, scope in ipairs(scopes_of(lease.run, lease.day, lease.labels)) do
    hold(account_of(scope), minus(lease.worst))
  end
  refund(lease.endpoint, lease.tokens, 0)
  redis.call('DEL', key('lease', id))
  redis.call('SREM', key('held', lease.owner), id)
end
notify_freed_money()
return {}
