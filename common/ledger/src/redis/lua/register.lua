-- Registers a process with a server that it did not know: its owners and leases, in case the server
-- lost them. Leases that only the server has were settled or released before it lost that: they are
-- presumed spent.
-- Arguments: retention of leases (ms); the number of owners, the owners; then for each lease
-- its id, owner, run, endpoint, tokens, worst cost, day and labels. An empty day: it is unknown whether the
-- lease was admitted, so the server's record stays.

local kept, owners = ARGV[4], tonumber(ARGV[5])
local presented = {}
for position = 6 + owners, #ARGV, 8 do
  local id, owner, run, endpoint, tokens, worst, day, labels = unpack(ARGV, position, position + 7)
  presented[id] = true
  if day ~= '' and not lease_of(id) then
    write_lease(id, owner, run, endpoint, tokens, worst, day, labels)
  end
end
for position = 6, 5 + owners do
  local owner = ARGV[position]
  for _, id in ipairs(redis.call('SMEMBERS', key('held', owner))) do
    if not presented[id] then presume(id, kept) end
  end
  redis.call('ZADD', key('owners'), whole(now), owner)
  redis.call('SADD', key('present', server), owner)
end
if owners > 0 then redis.call('EXPIRE', key('present', server), 86400) end
return {}
