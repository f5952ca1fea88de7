-- Extends the lifetime of an owner of shards. Owners that expired a day ago are deleted: without a
-- record an owner is gone, too.
-- Arguments: owner, lifetime (ms); empty ends it at once.

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
