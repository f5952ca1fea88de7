-- Ends the pause after a restart or an emptying, once the ledger holds at least what the journals
-- tell and every owner has said what it holds or has been silent for long enough. An emptied server
-- knows no owners: each that lives has said what it holds after a heartbeat. The ledger of a new fleet
-- is accepted at once.
-- Arguments: for how long to keep leases (ms), whether the fleet is new (1 or 0); then for each run its
-- id, what its results cost, and whether somebody has opened it here (1 or 0).
-- Answers: 'done' and how many leases were presumed spent, or 'waiting' and the owners waited for.

local kept = ARGV[4]
-- A heartbeat of 15 s, and time to say it.
local ALL_HAVE_BEATEN = 20000
for position = 6, #ARGV, 3 do
  tell(ARGV[position], ARGV[position + 1], ARGV[position + 2] == '1')
end
if redis.call('HGET', key('ledger'), 'server') == server then return { 'done', '0' } end

redis.call('HSETNX', key('ledger'), 'seen:' .. server, whole(now))
local first_seen = tonumber(redis.call('HGET', key('ledger'), 'seen:' .. server))
local absent, gone = { 'waiting' }, {}
for _, owner in ipairs(redis.call('ZRANGE', key('owners'), 0, -1)) do
  if redis.call('SISMEMBER', key('present', server), owner) == 0 then
    local last = math.max(tonumber(redis.call('ZSCORE', key('owners'), owner)), first_seen)
    local list = now - last > OWNER_GONE_AFTER and gone or absent
    list[#list + 1] = owner
  end
end
local emptied = tonumber(redis.call('HGET', key('ledger'), 'emptied') or '')
local is_early = emptied and now - emptied < ALL_HAVE_BEATEN
if ARGV[5] == '0' and (#absent > 1 or is_early) then return absent end
local buried = 0
for _, owner in ipairs(gone) do buried = buried + bury(owner, kept) end
-- Whoever is here may have been unable to beat while the server was away.
for _, owner in ipairs(redis.call('ZRANGE', key('owners'), 0, -1)) do beat(owner) end
redis.call('DEL', key('ledger'))
redis.call('HSET', key('ledger'), 'server', server)
tell_changes()
return { 'done', whole(buried) }
