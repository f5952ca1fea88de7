-- Rate limits of an endpoint: two continuous buckets, a cooldown, and learned limits.
-- The formulas are those of the state machine in Rust. All numbers are whole and below 2^53, where
-- Lua's are exact; the callers bound tokens, limits and pauses accordingly.
--
-- endpoint:NAME   the fields below, and what workers have learned of its counting: `count_rule`,
--                 `input_scale`, billed input tokens over expected ones in thousandths, and `fullest`,
--                 the maximum of remaining tokens that the provider reported under its present limit

-- Parts of a unit: with 60,000ths, a limit per minute is a whole number per millisecond.
local PARTS = 60000
-- Capacity of a bucket: what its limit allows in this many milliseconds.
local BURST_MS = 500
-- Upper bound of a request to a bucket, and still exact.
local MAX_TOKENS = 9000000000000000
-- Cooldown in milliseconds after a refusal that names none.
local DEFAULT_COOLDOWN = 1000
-- Milliseconds within which several refusals halve the limits once.
local HALVING_INTERVAL = 5000
-- The full limit, and the minimum that halving leaves, in thousandths.
local FULL_LIMIT, MIN_LIMIT = 1000, 16
-- Milliseconds in which a thousandth of the limit is restored.
local RECOVERY_MS = 100

local FIELDS = {
  'given_requests', 'given_tokens', 'refund_unused', 'learned_requests', 'learned_tokens',
  'requests_spent', 'tokens_spent', 'refreshed', 'cooldown_since', 'cooldown_until',
  'throttle', 'throttled', 'recovered',
}

local COUNTING = { 'count_rule', 'input_scale', 'fullest' }

local function quotient(dividend, divisor)
  return (dividend - math.fmod(dividend, divisor)) / divisor
end

-- The lower of the learned and the given limit, throttled; none if neither is known.
local function rate_of(endpoint, kind)
  local given, learned = endpoint['given_' .. kind], endpoint['learned_' .. kind]
  local limit = given and learned and math.min(given, learned) or given or learned
  if not limit then return nil end
  return math.max(quotient(limit * endpoint.throttle, FULL_LIMIT), 1)
end

-- Refills the buckets up to now. A clock that was set back counts as standing still.
local function refresh(endpoint)
  local elapsed = math.max(now - endpoint.refreshed, 0)
  endpoint.refreshed = now
  for _, kind in ipairs({ 'requests', 'tokens' }) do
    local rate, spent = rate_of(endpoint, kind), kind .. '_spent'
    if rate then endpoint[spent] = math.max(endpoint[spent] - rate * elapsed, 0) end
  end
  local since, untold = endpoint.cooldown_since, endpoint.cooldown_until
  if since and not (since <= now and now < untold) then
    endpoint.cooldown_since, endpoint.cooldown_until = nil, nil
  end
  endpoint.recovered = math.min(endpoint.recovered, now)
  local steps = quotient(now - endpoint.recovered, RECOVERY_MS)
  endpoint.recovered = endpoint.recovered + steps * RECOVERY_MS
  endpoint.throttle = math.min(endpoint.throttle + steps, FULL_LIMIT)
end

-- The refreshed state of an endpoint; nil if it is unknown.
local function known_endpoint(name)
  local wanted = { unpack(FIELDS) }
  for _, field in ipairs(COUNTING) do wanted[#wanted + 1] = field end
  local values = redis.call('HMGET', key('endpoint', name), unpack(wanted))
  if not values[8] then return nil end
  local endpoint = {}
  for position, field in ipairs(FIELDS) do endpoint[field] = tonumber(values[position] or '') end
  endpoint.counting = {}
  for position in ipairs(COUNTING) do
    endpoint.counting[position] = values[#FIELDS + position] or ''
  end
  refresh(endpoint)
  return endpoint
end

local function endpoint_of(name)
  return known_endpoint(name) or {
    refund_unused = 0, requests_spent = 0, tokens_spent = 0, refreshed = now,
    throttle = FULL_LIMIT, recovered = now, counting = { '', '', '' },
  }
end

local function save_endpoint(name, endpoint)
  local fields = {}
  for _, field in ipairs(FIELDS) do
    fields[#fields + 1] = field
    fields[#fields + 1] = endpoint[field] and whole(endpoint[field]) or ''
  end
  redis.call('HSET', key('endpoint', name), unpack(fields))
end

-- Milliseconds until a call may take this much. A call larger than the bucket starts when the
-- bucket is full.
local function bucket_delay(spent, rate, capacity, need)
  local lacking = math.max(spent - math.max(capacity - need, 0), 0)
  local pause = quotient(lacking, rate)
  return math.fmod(lacking, rate) == 0 and pause or pause + 1
end

-- Milliseconds that a call has to wait, and for what; nothing if it may start now.
local function delay_of(endpoint, tokens)
  local requests, tokens_delay = 0, 0
  local rate = rate_of(endpoint, 'requests')
  if rate then
    local capacity = math.max(rate * BURST_MS, PARTS)
    requests = bucket_delay(endpoint.requests_spent, rate, capacity, PARTS)
  end
  rate = rate_of(endpoint, 'tokens')
  if rate then
    tokens_delay = bucket_delay(endpoint.tokens_spent, rate, rate * BURST_MS, tokens * PARTS)
  end
  if requests == 0 and tokens_delay == 0 then return nil end
  if requests >= tokens_delay then return requests, 'requests' end
  return tokens_delay, 'tokens'
end

-- Takes a call's demand; a bucket may become negative. Calls count even while no limit is known: a
-- limit that is learned later starts with them.
local function take(endpoint, tokens)
  endpoint.requests_spent = math.min(endpoint.requests_spent + PARTS, MAX_TOKENS)
  endpoint.tokens_spent = math.min(endpoint.tokens_spent + tokens * PARTS, MAX_TOKENS)
end

-- Returns the demand of a call that is not made.
local function return_tokens(endpoint, tokens)
  endpoint.requests_spent = math.max(endpoint.requests_spent - PARTS, 0)
  endpoint.tokens_spent = math.max(endpoint.tokens_spent - tokens * PARTS, 0)
end

-- Sets limits by field; 'none' removes one. A bucket that had no limit was never refilled: it is empty
-- at worst.
local function take_limits(endpoint, limits)
  local requests, tokens = rate_of(endpoint, 'requests'), rate_of(endpoint, 'tokens')
  for field, limit in pairs(limits) do
    endpoint[field] = limit ~= 'none' and limit or nil
  end
  local rate = rate_of(endpoint, 'requests')
  if rate and not requests then
    local capacity = math.max(rate * BURST_MS, PARTS)
    endpoint.requests_spent = math.min(endpoint.requests_spent, capacity)
  end
  rate = rate_of(endpoint, 'tokens')
  if rate and not tokens then
    endpoint.tokens_spent = math.min(endpoint.tokens_spent, rate * BURST_MS)
  end
end

-- Refunds the unused part of a call's reservation, where the provider does so too.
local function refund(name, reserved, used)
  if redis.call('HGET', key('endpoint', name), 'refund_unused') ~= '1' then return end
  local endpoint = known_endpoint(name)
  if rate_of(endpoint, 'tokens') then
    local unused = (reserved - used) * PARTS
    endpoint.tokens_spent = math.max(endpoint.tokens_spent - unused, 0)
  end
  save_endpoint(name, endpoint)
end

-- Stores an endpoint's token counting as a worker has learned it. A higher scale holds at once; of a lower
-- one, a thirty-second of the difference.
local function update_counting(name, rule, scale, fullest)
  local record = key('endpoint', name)
  if fullest then
    local known = tonumber(redis.call('HGET', record, 'fullest') or '')
    redis.call('HSET', record, 'fullest', whole(math.max(fullest, known or 0)))
  end
  if rule ~= '' then redis.call('HSET', record, 'count_rule', rule) end
  if not scale then return end
  local known = tonumber(redis.call('HGET', record, 'input_scale') or '')
  if known then scale = math.max(scale, known - quotient(math.max(known - scale, 0), 32)) end
  redis.call('HSET', record, 'input_scale', whole(scale))
end

-- Starts a cooldown: the provider refused by rate and asks to wait for `pause` milliseconds.
local function refuse(endpoint, pause)
  if pause == 0 then pause = DEFAULT_COOLDOWN end
  local ends = math.max(endpoint.cooldown_until or now, now + pause)
  endpoint.cooldown_since, endpoint.cooldown_until = now, ends
  local last = endpoint.throttled
  if not last or now < last or now - last >= HALVING_INTERVAL then
    endpoint.throttled, endpoint.recovered = now, now
    endpoint.throttle = math.max(quotient(endpoint.throttle, 2), MIN_LIMIT)
  end
  -- A refusal shows that the provider's buckets hold less.
  local rate = rate_of(endpoint, 'requests')
  if rate then
    local capacity = math.max(rate * BURST_MS, PARTS)
    endpoint.requests_spent = math.max(endpoint.requests_spent, capacity)
  end
  rate = rate_of(endpoint, 'tokens')
  if rate then endpoint.tokens_spent = math.max(endpoint.tokens_spent, rate * BURST_MS) end
end

-- Sets learned limits by kind; returns true if any of them changed.
local function update_limits(endpoint, limits)
  local knew_any = endpoint.learned_requests or endpoint.learned_tokens
  local learned, is_news = {}, false
  for kind, limit in pairs(limits) do
    local field = 'learned_' .. kind
    if limit > 0 then
      is_news = is_news or endpoint[field] ~= limit
      learned[field] = limit
    end
  end
  take_limits(endpoint, learned)
  -- Calls in flight were admitted before the limit was known: their refusals carry no news.
  if is_news and not knew_any then endpoint.throttled = now end
  return is_news
end
