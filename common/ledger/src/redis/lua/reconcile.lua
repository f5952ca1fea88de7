-- Resumes admission after a restart or an emptying, once every owner has registered its leases or sent
-- no heartbeat for long enough, and books the costs of the journals before. An emptied server knows no
-- owners: each living one registers within a heartbeat. The ledger of a new fleet is accepted at once.
-- A run whose account alone was lost suspends admission too.
-- Arguments: retention of leases (ms), whether the fleet is new (1 or 0); then for each run its id, the
-- cost of its results (empty: unknown), the time of the last one (ms, empty: now), and its labels with
-- commas between them (empty: those that the ledger has).
-- Returns: 'done' and the number of leases presumed spent, or 'waiting' and the missing owners.

local kept = ARGV[4]
-- A heartbeat of 15 s, and time to register.
local REGISTRATION_WAIT = 20000

local lost = {}
for position = 6, #ARGV, 4 do
  local run = ARGV[position]
  if is_account_lost(run) then lost[run] = true end
end

-- A journal has no times of its results: all count on the day of the last one. None of them is later, so
-- that no cost of this month is booked on an earlier one.
local function book_journals()
  for position = 6, #ARGV, 4 do
    local run, cost, written, labels = unpack(ARGV, position, position + 3)
    local day = day_of(math.min(tonumber(written) or now, now))
    for label in labels:gmatch('[^,]+') do open_budget_label(label) end
    if labels == '' then labels = labels_of(run) end
    if cost ~= '' then
      book_journal(run, cost, day, labels)
    elseif lost[run] then
      redis.call('HSET', key('account', 'run', run), 'stopped', '1')
    end
  end
end

if redis.call('HGET', key('ledger'), 'server') == server then
  if not next(lost) then
    book_journals()
    return { 'done', '0' }
  end
  suspend()
end

redis.call('HSETNX', key('ledger'), 'seen:' .. server, whole(now))
local first_seen = tonumber(redis.call('HGET', key('ledger'), 'seen:' .. server))
local absent, gone = { 'waiting' }, {}
for _, owner in ipairs(redis.call('ZRANGE', key('owners'), 0, -1)) do
  if redis.call('SISMEMBER', key('present', server), owner) == 0 then
    local last = math.max(tonumber(redis.call('ZSCORE', key('owners'), owner)), first_seen)
    local list = now - last > OWNER_TIMEOUT and gone or absent
    list[#list + 1] = owner
  end
end
local emptied = tonumber(redis.call('HGET', key('ledger'), 'emptied') or '')
local is_early = emptied and now - emptied < REGISTRATION_WAIT
if ARGV[5] == '0' and (#absent > 1 or is_early) then return absent end
if next(lost) then restore_accounts(lost) end
-- Once only: results that come during the wait are included.
book_journals()
local presumed = 0
for _, owner in ipairs(gone) do presumed = presumed + presume_owner(owner, kept) end
-- Registered owners may have been unable to send heartbeats while the server was down.
for _, owner in ipairs(redis.call('ZRANGE', key('owners'), 0, -1)) do beat(owner) end
redis.call('DEL', key('ledger'))
redis.call('HSET', key('ledger'), 'server', server)
notify_changes()
return { 'done', whole(presumed) }
