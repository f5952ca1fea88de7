-- Records of the ledger, shared by the scripts that read or write them.
--
-- Every script gets ARGV[1], the prefix of every key; ARGV[2], the run id of the Redis server that
-- its connection reached; ARGV[3], the time in milliseconds since 1970, or nothing for Redis's own.
-- Its own arguments begin at ARGV[4].
--
-- Money is in pico-dollars, as decimal strings: Lua's numbers are not exact there. Only HINCRBY
-- adds and subtracts it, and only the sign of its reply is read.
--
-- budget:SCOPE    the cap: 'unlimited' or an amount; SCOPE is 'run:ID', 'day', 'month',
--                 'day:LABEL' or 'month:LABEL', a LABEL being as in 'dataset:golden' or 'tag:checkout'
-- labels:RUN      labels under which the calls of a run count too, with commas between them
-- labels          labels of all runs and caps
-- account:SCOPE   the spending, SCOPE being 'run:ID', 'day:2026-11-21', 'month:2026-11',
--                 'day:2026-11-21:LABEL' or 'month:2026-11:LABEL':
--                 committed, presumed, outstanding, overrun, carried, and `stopped` in a run's account
--                 once that is complete: opened, or reconciled with the journal;
--                 'alert:SHARE' for each alert that was sent; and where its budget is an amount, that
--                 `cap`, `uncommitted` (cap - committed) and `left` (cap - committed - outstanding)
-- lease:ID        an admitted call: owner, run, labels at its admission, endpoint, tokens, worst, day,
--                 standing, overrun
-- held:OWNER      the outstanding leases of an owner; those of `batches`, the owner of the leases of
--                 rows of batches, outlive every process
-- zone            name and offsets of the time zone in which days and months begin; none is UTC
-- owners          owners by the time of their last heartbeat
-- ledger          `server`, the one with which the ledger was last reconciled, or `emptied`, the time
--                 at which a process that had seen it in use found it empty or without the account of
--                 an open run, or opened a run on it

local prefix, server = ARGV[1], ARGV[2]

-- Sums of money saturate at the bounds of a signed 64-bit integer. No sum reaches UNLIMITED_CAP, and
-- sums of fewer digits are far below it.
local MAX_AMOUNT, MIN_AMOUNT = '9223372036854775807', '-9223372036854775808'
local UNLIMITED_CAP = '9223372036854775806'
-- Time without a heartbeat after which an owner counts as gone: four heartbeats of 15 s.
local OWNER_TIMEOUT = 60000

local function key(...)
  return prefix .. ':' .. table.concat({ ... }, ':')
end

-- Formats a whole number; tostring would round above 14 digits.
local function whole(number)
  return string.format('%.0f', number)
end

local function time()
  if ARGV[3] ~= '' then return tonumber(ARGV[3]) end
  local moment = redis.call('TIME')
  return tonumber(moment[1]) * 1000 + math.floor(tonumber(moment[2]) / 1000)
end

local now = time()

-- Offset of the ledger's time zone from UTC at a time, in milliseconds.
local function offset_at(milliseconds)
  local offset = 0
  local offsets = redis.call('HGET', key('zone'), 'offsets') or ''
  for since, seconds in offsets:gmatch('(-?%d+):(-?%d+)') do
    if tonumber(since) > milliseconds then break end
    offset = tonumber(seconds)
  end
  return offset * 1000
end

-- The day of a time in the ledger's zone, as in 2026-11-21 (days since the first of March of the
-- year 0).
local function day_of(milliseconds)
  local days = math.floor((milliseconds + offset_at(milliseconds)) / 86400000) + 719468
  local era = math.floor(days / 146097)
  local in_era = days - era * 146097
  local leap_days = math.floor(in_era / 1460) - math.floor(in_era / 36524)
    + math.floor(in_era / 146096)
  local year = math.floor((in_era - leap_days) / 365)
  local in_year = in_era - (365 * year + math.floor(year / 4) - math.floor(year / 100))
  local march_based = math.floor((5 * in_year + 2) / 153)
  local day = in_year - math.floor((153 * march_based + 2) / 5) + 1
  local month = march_based < 10 and march_based + 3 or march_based - 9
  if month <= 2 then year = year + 1 end
  return string.format('%04d-%02d-%02d', year + era * 400, month, day)
end

-- The labels of a run.
local function labels_of(run)
  return redis.call('GET', key('labels', run)) or ''
end

-- The budgets of a call of this run that was admitted on this day under these labels.
local function scopes_of(run, day, labels)
  local month = day:sub(1, 7)
  local scopes = {
    { budget = 'run:' .. run, account = 'run:' .. run },
    { budget = 'day', account = 'day:' .. day },
    { budget = 'month', account = 'month:' .. month },
  }
  for label in labels:gmatch('[^,]+') do
    scopes[#scopes + 1] = { budget = 'day:' .. label, account = 'day:' .. day .. ':' .. label }
    scopes[#scopes + 1] =
      { budget = 'month:' .. label, account = 'month:' .. month .. ':' .. label }
  end
  return scopes
end

-- True if an amount is at most another; neither is negative.
local function is_at_most(amount, other)
  if #amount ~= #other then return #amount < #other end
  return amount <= other
end

local function minus(amount)
  if amount == '0' then return amount end
  if amount:sub(1, 1) == '-' then return amount:sub(2) end
  return '-' .. amount
end

local function overflows(answer)
  if type(answer) ~= 'table' then return false end
  if not answer.err:find('overflow', 1, true) then error(answer) end
  return true
end

-- Adds to a field of a record; returns a number with the sign of the sum.
local function add(record, field, amount)
  local sum = redis.pcall('HINCRBY', record, field, amount)
  if not overflows(sum) then return sum end
  local falls = amount:sub(1, 1) == '-'
  redis.call('HSET', record, field, falls and MIN_AMOUNT or MAX_AMOUNT)
  return falls and -1 or 1
end

-- True if a field minus all these amounts is not negative. Changes nothing.
local function covers(record, field, amounts)
  local taken, fits = {}, true
  for _, amount in ipairs(amounts) do
    local rest = redis.pcall('HINCRBY', record, field, minus(amount))
    if overflows(rest) then
      fits = false
      break
    end
    taken[#taken + 1] = amount
    fits = rest >= 0
  end
  for _, amount in ipairs(taken) do
    redis.call('HINCRBY', record, field, amount)
  end
  return fits
end

local function account_of(scope)
  return key('account', scope.account)
end

local function budget_of(scope)
  return redis.call('GET', key('budget', scope.budget))
end

-- Budgets of scopes, in the same order; false where there is no record.
local function budgets_of(scopes)
  local names = {}
  for position, scope in ipairs(scopes) do names[position] = key('budget', scope.budget) end
  return redis.call('MGET', unpack(names))
end

-- By account: true if the account has a cap. A cache of this script's reads.
local caps = {}

local function has_cap(account)
  if caps[account] == nil then caps[account] = redis.call('HEXISTS', account, 'cap') == 1 end
  return caps[account]
end

-- Updates the cap of an account and its remaining amounts to its budget, which may have changed.
-- Without a cap none are stored: most accounts have none, and updating them took most of a call's
-- time.
local function update_cap(account, budget, noted)
  caps[account] = budget ~= 'unlimited'
  if noted == budget then return end
  if budget == 'unlimited' then
    if noted then redis.call('HDEL', account, 'cap', 'uncommitted', 'left') end
    return
  end
  redis.call('HSET', account, 'cap', budget, 'uncommitted', budget, 'left', budget)
  local spent = redis.call('HMGET', account, 'committed', 'outstanding')
  local committed, outstanding = minus(spent[1] or '0'), minus(spent[2] or '0')
  add(account, 'uncommitted', committed)
  add(account, 'left', committed)
  add(account, 'left', outstanding)
end

-- True if an account without a cap, of these sums, can add this amount.
local function can_count(account, committed, outstanding, amount)
  local digits = math.max(#(committed or ''), #(outstanding or ''), #amount)
  if digits < #UNLIMITED_CAP then return true end
  update_cap(account, UNLIMITED_CAP, nil)
  local fits = covers(account, 'left', { amount })
  update_cap(account, 'unlimited', UNLIMITED_CAP)
  return fits
end

local function commit(account, amount)
  add(account, 'committed', amount)
  if not has_cap(account) then return end
  add(account, 'uncommitted', minus(amount))
  add(account, 'left', minus(amount))
end

local function hold(account, amount)
  if add(account, 'outstanding', amount) < 0 then
    -- The account was lost, and this lease with it: nothing of it is held here.
    redis.call('HDEL', account, 'outstanding')
    return
  end
  if has_cap(account) then add(account, 'left', minus(amount)) end
end

-- The fields of an account, in this order; '0' for absent ones.
local function figures_of(account)
  local figures = redis.call('HMGET', account,
    'committed', 'presumed', 'outstanding', 'overrun', 'stopped', 'carried')
  for position = 1, 6 do figures[position] = figures[position] or '0' end
  return figures
end

-- A lease as a table; none if it was released, never held, or ended long ago.
local function lease_of(id)
  local record = redis.call('HMGET', key('lease', id),
    'owner', 'run', 'endpoint', 'tokens', 'worst', 'day', 'standing', 'overrun', 'labels')
  if not record[7] then return nil end
  return {
    owner = record[1], run = record[2], endpoint = record[3], tokens = tonumber(record[4]),
    worst = record[5], day = record[6], lease_state = record[7], overrun = record[8],
    labels = record[9] or '',
  }
end

local function write_lease(id, owner, run, endpoint, tokens, worst, day, labels)
  redis.call('HSET', key('lease', id), 'owner', owner, 'run', run, 'endpoint', endpoint,
    'tokens', tokens, 'worst', worst, 'day', day, 'labels', labels, 'standing', 'outstanding')
  redis.call('SADD', key('held', owner), id)
  for _, scope in ipairs(scopes_of(run, day, labels)) do
    hold(account_of(scope), worst)
  end
end

-- Counts an outstanding lease as spent at its worst case. It is kept for `kept` milliseconds, in
-- which its bill may still come.
local function presume(id, kept)
  local lease = lease_of(id)
  if not lease or lease.lease_state ~= 'outstanding' then return false end
  for _, scope in ipairs(scopes_of(lease.run, lease.day, lease.labels)) do
    local account = account_of(scope)
    hold(account, minus(lease.worst))
    commit(account, lease.worst)
    add(account, 'presumed', lease.worst)
  end
  redis.call('HSET', key('lease', id), 'standing', 'presumed')
  redis.call('PEXPIRE', key('lease', id), kept)
  redis.call('SREM', key('held', lease.owner), id)
  return true
end

-- Presumes spent the leases of an owner; returns their number.
local function presume_owner(owner, kept)
  local presumed = 0
  for _, id in ipairs(redis.call('SMEMBERS', key('held', owner))) do
    if presume(id, kept) then presumed = presumed + 1 end
  end
  redis.call('DEL', key('held', owner))
  redis.call('ZREM', key('owners'), owner)
  return presumed
end

local function beat(owner)
  -- The owner of batch rows never ends and has no heartbeat.
  if owner == 'batches' then return end
  redis.call('ZADD', key('owners'), whole(now), owner)
end

-- True if the ledger was not reconciled since the server was started or emptied, or since a run was
-- opened on it for the first time.
local function admission_suspended()
  local known = redis.call('HGET', key('ledger'), 'server')
  if known then return known ~= server end
  return redis.call('HEXISTS', key('ledger'), 'emptied') == 1
end

-- Suspends admission as if the server was emptied, until the ledger has been reconciled.
local function suspend()
  redis.call('HDEL', key('ledger'), 'server')
  redis.call('HSETNX', key('ledger'), 'emptied', whole(now))
end

-- Records that the server was emptied, if the caller has seen the ledger in use ('1') and it is gone.
local function detect_emptied(seen)
  local trace = redis.call('HEXISTS', key('ledger'), 'server')
  if seen == '1' and trace == 0 then
    redis.call('HSETNX', key('ledger'), 'emptied', whole(now))
  end
end

-- Wakes waiting callers in every process.
local function notify_changes()
  redis.call('PUBLISH', key('changes'), '')
end
