-- Books the cost of a call, even above its reservation and even if its lease is unknown or was
-- presumed spent; stores the finished job in the same step. Booking twice books once; the job that
-- the later settlement finishes is stored nevertheless.
-- Arguments: lease, cost, used tokens, retention of the lease (ms); the claim's run, job,
-- round and fence; input, cached input and output tokens; the result, or empty; the cache key
-- of the reply, or empty, the reply, its retention (ms); whether the reply reported usage or cost (1 or 0);
-- whether the result has a usable reply (1 or 0).
-- Returns: whether the claim holds (1 or 0), the overrun.

local id, cost, used, kept = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local run, job, round, fence = ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local result, cache_key, reply, reply_kept = ARGV[15], ARGV[16], ARGV[17], ARGV[18]

local claim = held_claim(run, job, round, fence)
local may_publish = claim and '1' or '0'
local known = lease_of(id)
if known and known.lease_state == 'settled' then
  -- The first settlement may have left its cost on the claim, without a result.
  store_reply(cache_key, reply, reply_kept)
  if claim and result ~= '' then store_result(run, job, claim, result, ARGV[20]) end
  return { may_publish, known.overrun }
end

-- An unknown lease reserved nothing: its whole bill is above its reservation.
local lease = known
  or {
    owner = '', run = run, endpoint = '', tokens = 0, worst = '0', day = day_of(now),
    labels = labels_of(run),
  }
local record = key('lease', id)
if not known then
  redis.call('HSET', record, 'owner', lease.owner, 'run', lease.run, 'endpoint', lease.endpoint,
    'tokens', whole(lease.tokens), 'worst', lease.worst, 'day', lease.day, 'labels', lease.labels)
end
local overrun = '0'
if not is_at_most(cost, lease.worst) then
  redis.call('HSET', record, 'overrun', cost)
  add(record, 'overrun', minus(lease.worst))
  overrun = redis.call('HGET', record, 'overrun')
end

local capped = false
for _, scope in ipairs(scopes_of(lease.run, lease.day, lease.labels)) do
  local account = account_of(scope)
  if known and known.lease_state == 'outstanding' then hold(account, minus(lease.worst)) end
  if known and known.lease_state == 'presumed' then
    commit(account, minus(lease.worst))
    add(account, 'presumed', minus(lease.worst))
  end
  commit(account, cost)
  if overrun ~= '0' then add(account, 'overrun', overrun) end
  if not claim then add(account, 'presumed', cost) end
  if overrun ~= '0' then
    local budget = budget_of(scope)
    capped = capped or (budget and budget ~= 'unlimited')
  end
end
if capped then redis.call('HSET', key('account', 'run', lease.run), 'stopped', '1') end
refund(lease.endpoint, lease.tokens, used)
redis.call('HSET', record, 'standing', 'settled', 'overrun', overrun)
redis.call('PEXPIRE', record, kept)
redis.call('SREM', key('held', lease.owner), id)
remove_place(id)

store_reply(cache_key, reply, reply_kept)
if claim then
  if result ~= '' then
    store_result(run, job, claim, result, ARGV[20])
  else
    carry(run, job, cost, ARGV[12], ARGV[13], ARGV[14], ARGV[19])
  end
end
notify_freed_money()
return { may_publish, overrun }
