-- Costs of runs by their journals, for accounts that have lost them.

-- True if the account of a run includes what was spent before: the run was opened on this server, or
-- reconciled with its journal. Bills and registered leases alone make an incomplete account.
local function is_complete(run)
  return redis.call('HEXISTS', key('account', 'run', run), 'stopped') == 1
end

local function mark_complete(run)
  redis.call('HSETNX', key('account', 'run', run), 'stopped', '0')
end

-- Books the cost of a run's results, as far as its account lacks it, on a day and its month, and on
-- those of these labels.
local function book_journal(run, cost, day, labels)
  local account = key('account', 'run', run)
  local figures = figures_of(account)
  -- The ledger's part of that cost is what it committed, less what is in no result.
  redis.call('HSET', account, 'missing', cost)
  add(account, 'missing', minus(figures[1]))
  add(account, 'missing', figures[2])
  local is_missing = add(account, 'missing', figures[6]) > 0
  local missing = redis.call('HGET', account, 'missing')
  redis.call('HDEL', account, 'missing')
  if not is_missing then return end
  for _, scope in ipairs(scopes_of(run, day, labels)) do
    commit(account_of(scope), missing)
  end
  mark_complete(run)
end
