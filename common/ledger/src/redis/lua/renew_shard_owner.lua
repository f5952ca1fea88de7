-- Lets an owner of shards live for so long from now. Those that are gone for a day are forgotten:
-- without a time, too, an owner is gone.
-- Arguments: owner, for how long (ms); nothing ends it at once.

local owners = key('batch_owners')
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', owners, '-inf', whole(now - 86400000))) do
  redis.call('ZREM', owners, gone)
end
if ARGV[5] == '' then
  redis.call('ZREM', owners, ARGV[4])
else
  redis.call('ZADD', owners, whole(now + tonumber(ARGV[5])), ARGV[4])
end
return {}
