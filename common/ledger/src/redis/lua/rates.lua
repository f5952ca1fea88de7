-- Rate limits of an endpoint: two continuous buckets, a cooldown, and what the provider taught.
-- The formulas are those of the state machine in Rust. All numbers are whole and below 2^53, where
-- Lua's are exact; the callers bound tokens, limits and pauses accordingly.
--
-- endpoint:NAME   the fields below, and what workers have learned of its counting: `count_rule`,
--                 `input_scale`, billed input tokens over expected ones in thousandths, and `fullest`,
--                 the most tokens that the provider said were left under its present limit

-- Buckets are kept in 60,000ths, so that a limit per minute is a whole number per millisecond.
local PARTS = 60000
-- A bucket holds what its limit allows in this many milliseconds.
local BURST = 500
-- More than any bucket can be asked for, and still exact.
local FULLEST = 9000000000000000
-- A refusal that does not say how long to wait.
local COOLDOWN = 1000
-- Refusals come in bursts: one of them halves the limits.
local HALVE_AT_MOST_EVERY = 5000
-- The whole limit, and the least that halving leaves, in thousandths.
local WHOLE_LIMIT, LEAST_LIMIT = 1000, 16
-- Milliseconds in which a thousandth of the limit comes back.
local RECOVERY = 100

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
  return math.max(quotient(limit * endpoint.throttle, WHOLE_LIMIT), 1)
end

-- Lets time pass. A clock that was set back counts as standing still.
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
  local steps = quotient(now - endpoint.recovered, RECOVERY)
  endpoint.recovered = endpoint.recovered + steps * RECOVERY
  endpoint.throttle = math.min(endpoint.throttle + steps, WHOLE_LIMIT)
end

-- An endpoint as it is now; none if nothing is known of it.
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
    throttle = WHOLE_LIMIT, recovered = now, counting = { '', '', '' },
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

-- Milliseconds until a call may take this much. What is larger than the bucket goes when the bucket
-- is full.
local function bucket_delay(spent, rate, capacity, need)
  local lacking = math.max(spent - math.max(capacity - need, 0), 0)
  local pause = quotient(lacking, rate)
  return math.fmod(lacking, rate) == 0 and pause or pause + 1
end

-- How many milliseconds a call has to wait, and for what; nothing if it may go now.
local function delay_of(endpoint, tokens)
  local requests, tokens_delay = 0, 0
  local rate = rate_of(endpoint, 'requests')
  if rate then
    local capacity = math.max(rate * BURST, PARTS)
    requests = bucket_delay(endpoint.requests_spent, rate, capacity, PARTS)
  end
  rate = rate_of(endpoint, 'tokens')
  if rate then
    tokens_delay = bucket_delay(endpoint.tokens_spent, rate, rate * BURST, tokens * PARTS)
  end
  if requests == 0 and tokens_delay == 0 then return nil end
  if requests >= tokens_delay then return requests, 'requests' end
  return tokens_delay, 'tokens'
end

-- Takes what a call needs; a bucket may go below empty. Counts even while no limit is known: one
-- that is learned begins with what has gone out already.
local function take(endpoint, tokens)
  endpoint.requests_spent = math.min(endpoint.requests_spent + PARTS, FULLEST)
  endpoint.tokens_spent = math.min(endpoint.tokens_spent + tokens * PARTS, FULLEST)
end

-- Returns what was taken for a call that does not go out.
local function put_back(endpoint, tokens)
  endpoint.requests_spent = math.max(endpoint.requests_spent - PARTS, 0)
  endpoint.tokens_spent = math.max(endpoint.tokens_spent - tokens * PARTS, 0)
end

-- Takes limits: by field, none where a field is named 'none'. A bucket that had no limit was never
-- filled again: it is empty at worst.
local function take_limits(endpoint, limits)
  local requests, tokens = rate_of(endpoint, 'requests'), rate_of(endpoint, 'tokens')
  for field, limit in pairs(limits) do
    endpoint[field] = limit ~= 'none' and limit or nil
  end
  local rate = rate_of(endpoint, 'requests')
  if rate and not requests then
    local capacity = math.max(rate * BURST, PARTS)
    endpoint.requests_spent = math.min(endpoint.requests_spent, capacity)
  end
  rate = rate_of(endpoint, 'tokens')
  if rate and not tokens then
    endpoint.tokens_spent = math.min(endpoint.tokens_spent, rate * BURST)
  end
end

-- Gives back what a call reserved and did not use, where the provider does so too.
local function refund(name, reserved, used)
  if redis.call('HGET', key('endpoint', name), 'refund_unused') ~= '1' then return end
  local endpoint = known_endpoint(name)
  if rate_of(endpoint, 'tokens') then
    local unused = (reserved - used) * PARTS
    endpoint.tokens_spent = math.max(endpoint.tokens_spent - unused, 0)
  end
  save_endpoint(name, endpoint)
end

-- Keeps what a worker has learned of an endpoint's counting. A higher scale holds at once; of a lower
-- one, a thirty-second of the difference.
local function keep_counting(name, rule, scale, fullest)
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

-- The provider refused by rate and asks to wait for `pause` milliseconds.
local function refuse(endpoint, pause)
  if pause == 0 then pause = COOLDOWN end
  local ends = math.max(endpoint.cooldown_until or now, now + pause)
  endpoint.cooldown_since, endpoint.cooldown_until = now, ends
  local last = endpoint.throttled
  if not last or now < last or now - last >= HALVE_AT_MOST_EVERY then
    endpoint.throttled, endpoint.recovered = now, now
    endpoint.throttle = math.max(quotient(endpoint.throttle, 2), LEAST_LIMIT)
  end
  -- A refusal shows that the provider's buckets hold less than ours.
  local rate = rate_of(endpoint, 'requests')
  if rate then
    local capacity = math.max(rate * BURST, PARTS)
    endpoint.requests_spent = math.max(endpoint.requests_spent, capacity)
  end
  rate = rate_of(endpoint, 'tokens')
  if rate then endpoint.tokens_spent = math.max(endpoint.tokens_spent, rate * BURST) end
end

-- Learns limits by kind; answers whether any of them was news.
local function learn(endpoint, limits)
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
  -- Calls in flight were admitted without knowing: their refusals say nothing more.
  if is_news and not knew_any then endpoint.throttled = now end
  return is_news
end
