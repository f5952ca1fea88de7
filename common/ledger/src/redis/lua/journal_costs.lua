-- Costs of runs by their journals, for accounts that have lost them.

-- True if the account of a run includes what was spent before: the run was opened on this server, or
-- reconciled with its journal. Bills and registered leases alone make an incomplete account.
local function is_complete(run)
  return redis.call('HEXISTS', key('account', 'run', run), 'stopped') == 1
end

-- True if a run was opened on this server and its account was lost since: days and months have what
-- it spent.
local function is_account_lost(run)
  return not is_complete(run)
    and redis.call('EXISTS', key('budget', 'run', run), key('run', run)) > 0
end

local function mark_complete(run)
  redis.call('HSETNX', key('account', 'run', run), 'stopped', '0')
end

-- Restores in the lost accounts of these runs, a set, what calls in flight hold and what unfinished
-- jobs carry. What was presumed spent is known to nobody.
local function restore_accounts(runs)
  for run in pairs(runs) do
    local account, carried = key('account', 'run', run), key('carried', run)
    redis.call('HDEL', account, 'outstanding', 'carried', 'cap', 'uncommitted', 'left')
    caps[account] = nil
    -- A bill replaced what the account had presumed spent before it was lost.
    if figures_of(account)[2]:sub(1, 1) == '-' then redis.call('HDEL', account, 'presumed') end
    for _, field in ipairs(redis.call('HKEYS', carried)) do
      if field:sub(-5) == ':cost' then
        add(account, 'carried', redis.call('HGET', carried, field))
      end
    end
  end
  local owners = redis.call('ZRANGE', key('owners'), 0, -1)
  owners[#owners + 1] = 'batches'
  for _, owner in ipairs(owners) do
    for _, id in ipairs(redis.call('SMEMBERS', key('held', owner))) do
      local lease = lease_of(id)
      if lease and lease.lease_state == 'outstanding' and runs[lease.run] then
        hold(key('account', 'run', lease.run), lease.worst)
      end
    end
  end
end

-- Books the cost of a run's results, as far as its account lacks it, on a day and its month, and on
-- those of these labels; on the run alone if only its account was lost.
local function book_journal(run, cost, day, labels)
  local is_lost = is_account_lost(run)
  local account = key('account', 'run', run)
  local figures = figures_of(account)
  -- The ledger's part of that cost is what it committed, less what is in no result.
  redis.call('HSET', account, 'missing', cost)
  add(account, 'missing', minus(figures[1]))
  add(account, 'missing', figures[2])
  local is_missing = add(account, 'missing', figures[6]) > 0
  local missing = redis.call('HGET', account, 'missing')
  redis.call('HDEL', account, 'missing')
  if is_lost or is_missing then mark_complete(run) end
  if not is_missing then return end
  for position, scope in ipairs(scopes_of(run, day, labels)) do
    if position == 1 or not is_lost then commit(account_of(scope), missing) end
  end
end
