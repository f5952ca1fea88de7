-- One decision over all budgets and rate limits.
-- Arguments: lease, owner, run, endpoint, tokens, worst cost.
-- Returns one of: admitted DAY LABELS COUNTING · ended · suspended · wait REASON MILLISECONDS COUNTING ·
-- never ACCOUNT BUDGET COMMITTED PRESUMED OUTSTANDING OVERRUN STOPPED, the account being that of the
-- scope in the way; an empty budget is no record. COUNTING are rule, scale and fullest of the
-- endpoint, each empty where unknown.

local id, owner, run, endpoint_name = ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local tokens, worst = tonumber(ARGV[8]), ARGV[9]

-- A run that was never opened on this server does not wait for a reconciliation.
if admission_suspended() and budget_of(scopes_of(run, '', '')[1]) then return { 'suspended' } end
beat(owner)
local held_already = lease_of(id)
if held_already then
  if held_already.lease_state == 'outstanding' then
    return { 'admitted', held_already.day, held_already.labels }
  end
  return { 'ended' }
end
remove_expired(id)

local function headroom(scope, budget)
  if not budget then return 'exceeded' end
  local account = account_of(scope)
  local noted = redis.call('HMGET', account, 'cap', 'stopped', 'committed', 'outstanding')
  -- An open run has a complete account. This one was lost: the cap does not begin again.
  if scope.account == 'run:' .. run and not noted[2] then return 'lost' end
  update_cap(account, budget, noted[1])
  if noted[2] == '1' then return 'exceeded' end
  if budget == 'unlimited' then
    return can_count(account, noted[3], noted[4], worst) and 'available' or 'exceeded'
  end
  local wanted = amounts_ahead(id, scope.account)
  wanted[#wanted + 1] = worst
  -- The amount left is at most the uncommitted one, so it decides alone where it suffices.
  if covers(account, 'left', wanted) then return 'available' end
  if not covers(account, 'uncommitted', { worst }) then return 'exceeded' end
  return 'reserved'
end

local day, labels = day_of(now), labels_of(run)
local scopes = scopes_of(run, day, labels)
local budgets = budgets_of(scopes)
local held
for position, scope in ipairs(scopes) do
  local found = headroom(scope, budgets[position])
  if found == 'lost' then
    suspend()
    return { 'suspended' }
  end
  if found == 'exceeded' then
    remove_place(id)
    cancel_reservation(id)
    local figures = figures_of(account_of(scope))
    return { 'never', scope.account, budgets[position] or '', unpack(figures) }
  end
  if found == 'reserved' then held = held or scope end
end
if held then
  wait(id, held.account, worst)
  return { 'wait', 'budget', '' }
end

local endpoint = endpoint_of(endpoint_name)
remove_place(id)
local delay, reason = reserve(id, endpoint_name, endpoint, tokens)
save_endpoint(endpoint_name, endpoint)
if delay then return { 'wait', reason, whole(delay), unpack(endpoint.counting) } end
write_lease(id, owner, run, endpoint_name, whole(tokens), worst, day, labels)
return { 'admitted', day, labels, unpack(endpoint.counting) }
