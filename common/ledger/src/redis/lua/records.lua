-- The ledger's records, shared by every script that touches them.
--
-- Every script gets ARGV[1], the prefix of every key; ARGV[2], the run id of the Redis server that
-- its connection reached; ARGV[3], the time in milliseconds since 1970, or nothing for Redis's own.
-- Its own arguments begin at ARGV[4].
--
-- Money is in pico-dollars, as decimal strings: Lua's numbers are not exact there. Only HINCRBY
-- adds and subtracts it, and only the sign of its answer is looked at.
--
-- budget:SCOPE    what may be spent: 'unlimited' or an amount; SCOPE is 'run:ID', 'day', 'month',
--                 'day:LABEL' or 'month:LABEL', a LABEL being as in 'dataset:golden' or 'tag:checkout'
-- labels:RUN      labels under which the calls of a run count too, with commas between them
-- labels          every label that a run or a cap has
-- account:SCOPE   what was spent, SCOPE being 'run:ID', 'day:2026-11-21', 'month:2026-11',
--                 'day:2026-11-21:LABEL' or 'month:2026-11:LABEL':
--                 committed, presumed, outstanding, overrun, carried, stopped, and in a run's
--                 account what of `committed` is `undated`, on no day yet; 'alert:SHARE' for each alert
--                 that was sent; and where its budget is an amount, that `cap`, what is
--                 `uncommitted` (cap - committed) and what is `left` (cap - committed - outstanding)
-- lease:ID        an admitted call: owner, run, labels at its admission, endpoint, tokens, worst, day,
--                 standing, overrun
-- held:OWNER      the outstanding leases of an owner; those of `batches`, the owner of the leases of
--                 rows of batches, outlive every process
-- zone            name and offsets of the time zone in which days and months begin; none is UTC
-- owners          owners by the time of their last heartbeat
-- ledger          which `server` the ledger was last reconciled with, or since when it is `emptied`:
--                 a process has found it empty that had seen it in use, or has opened a run on it

local prefix, server = ARGV[1], ARGV[2]

-- Sums of money saturate at the ends of a signed 64-bit integer. No sum ever reaches this cap, and one
-- of fewer digits is not even near.
local MOST, LEAST = '9223372036854775807', '-9223372036854775808'
local WITHOUT_END = '9223372036854775806'
-- Four heartbeats of 15 s.
local OWNER_GONE_AFTER = 60000

local function key(...)
  return prefix .. ':' .. table.concat({ ... }, ':')
end

-- Plain tostring would round what is above 14 digits.
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

-- Whether an amount is no more than another; neither is negative.
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

-- Adds to a field of a record; answers something with the sign of the sum.
local function add(record, field, amount)
  local sum = redis.pcall('HINCRBY', record, field, amount)
  if not overflows(sum) then return sum end
  local falls = amount:sub(1, 1) == '-'
  redis.call('HSET', record, field, falls and LEAST or MOST)
  return falls and -1 or 1
end

-- Whether a field would not fall below zero if all these amounts were taken. Takes none.
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

-- Budgets of scopes, in their order; false where there is no record.
local function budgets_of(scopes)
  local names = {}
  for position, scope in ipairs(scopes) do names[position] = key('budget', scope.budget) end
  return redis.call('MGET', unpack(names))
end

-- Whether a cap is noted in an account, by account, as far as this script knows already.
local caps = {}

local function has_cap(account)
  if caps[account] == nil then caps[account] = redis.call('HEXISTS', account, 'cap') == 1 end
  return caps[account]
end

-- Brings what is left of an account in line with its budget, which may have been changed since the
-- cap that is noted in it. Without a cap nothing is noted: most accounts have none, and their upkeep
-- took most of a call's time.
local function fit_to_cap(account, budget, noted)
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

-- Whether an account without a cap, of these sums, can count this amount too.
local function can_count(account, committed, outstanding, amount)
  local digits = math.max(#(committed or ''), #(outstanding or ''), #amount)
  if digits < #WITHOUT_END then return true end
  fit_to_cap(account, WITHOUT_END, nil)
  local fits = covers(account, 'left', { amount })
  fit_to_cap(account, 'unlimited', WITHOUT_END)
  return fits
end

local function commit(account, amount)
  add(account, 'committed', amount)
  if not has_cap(account) then return end
  add(account, 'uncommitted', minus(amount))
  add(account, 'left', minus(amount))
end

local function hold(account, amount)
  add(account, 'outstanding', amount)
  if has_cap(account) then add(account, 'left', minus(amount)) end
end

-- The figures of an account, in this order; nothing counts as zero.
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
    worst = record[5], day = record[6], standing = record[7], overrun = record[8],
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

-- Counts an outstanding lease as spent at its worst case. It is kept for so many milliseconds, in
-- which its bill may still come.
local function presume(id, kept)
  local lease = lease_of(id)
  if not lease or lease.standing ~= 'outstanding' then return false end
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

-- Presumes spent what an owner held; answers how many leases.
local function bury(owner, kept)
  local buried = 0
  for _, id in ipairs(redis.call('SMEMBERS', key('held', owner))) do
    if presume(id, kept) then buried = buried + 1 end
  end
  redis.call('DEL', key('held', owner))
  redis.call('ZREM', key('owners'), owner)
  return buried
end

local function beat(owner)
  -- What never ends has no heartbeat.
  if owner == 'batches' then return end
  redis.call('ZADD', key('owners'), whole(now), owner)
end

-- Whether this server has not been reconciled with since it was started or emptied, or since a run
-- was opened on it for the first time.
local function paused()
  local known = redis.call('HGET', key('ledger'), 'server')
  if known then return known ~= server end
  return redis.call('HEXISTS', key('ledger'), 'emptied') == 1
end

-- Whoever has seen the ledger in use ('1') and finds no trace of that finds it emptied.
local function look_for_trace(seen)
  local trace = redis.call('HEXISTS', key('ledger'), 'server')
  if seen == '1' and trace == 0 then
    redis.call('HSETNX', key('ledger'), 'emptied', whole(now))
  end
end

-- Books what the results of a run cost according to its journal, as far as the account lacks it. A
-- run that nobody has opened here counts on no day and no month before somebody opens it.
local function tell(run, told, is_open)
  local account = key('account', 'run', run)
  local figures = figures_of(account)
  -- What the ledger has of told costs is what it committed, less what no result tells.
  redis.call('HSET', account, 'missing', told)
  add(account, 'missing', minus(figures[1]))
  add(account, 'missing', figures[2])
  if add(account, 'missing', figures[6]) > 0 then
    local missing = redis.call('HGET', account, 'missing')
    if is_open then
      for _, scope in ipairs(scopes_of(run, day_of(now), labels_of(run))) do
        commit(account_of(scope), missing)
      end
    else
      commit(account, missing)
      add(account, 'undated', missing)
    end
  end
  redis.call('HDEL', account, 'missing')
end

-- Counts on the current day and month, those of its labels too, what was told of a run before somebody
-- opened it.
local function date_told_costs(run)
  local account = key('account', 'run', run)
  local undated = redis.call('HGET', account, 'undated')
  if not undated then return end
  for position, scope in ipairs(scopes_of(run, day_of(now), labels_of(run))) do
    if position > 1 then commit(account_of(scope), undated) end
  end
  redis.call('HDEL', account, 'undated')
end

-- Wakes those who wait, in every process.
local function tell_changes()
  redis.call('PUBLISH', key('changes'), '')
end
