-- Says that these owners live, and presumes spent what owners hold that no longer do.
-- Arguments: for how long to keep leases (ms), whether the caller has seen the ledger in use (1 or
-- 0), then the owners.
-- On a server that has not been reconciled with, silence proves nothing: it was away itself.
-- Answers: whether the server was emptied (1 or 0), and so has to be told what is held.

look_for_trace(ARGV[5])
for position = 6, #ARGV do beat(ARGV[position]) end
if paused() then
  return { whole(redis.call('HEXISTS', key('ledger'), 'emptied')) }
end
local since = '(' .. whole(now - OWNER_GONE_AFTER)
local buried = 0
for _, owner in ipairs(redis.call('ZRANGEBYSCORE', key('owners'), '-inf', since)) do
  buried = buried + bury(owner, ARGV[4])
end
if buried > 0 then tell_changes() end
return { '0' }
