-- Says that these owners live, and presumes spent what owners hold that no longer do.
-- Arguments: for how long to keep leases (ms), then the owners.
-- On a server that has not been reconciled with, silence proves nothing: it was away itself.

for position = 5, #ARGV do beat(ARGV[position]) end
if paused() then return {} end
local since = '(' .. whole(now - OWNER_GONE_AFTER)
local buried = 0
for _, owner in ipairs(redis.call('ZRANGEBYSCORE', key('owners'), '-inf', since)) do
  buried = buried + bury(owner, ARGV[4])
end
if buried > 0 then tell_changes() end
return {}
