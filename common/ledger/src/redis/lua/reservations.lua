-- Calls that wait for the rate limits of an endpoint. What such a call needs is taken from the buckets
-- when it first asks, and with that the time at which it may go is fixed: later calls come after it
-- without a look at those that wait. The rules are those of the state machine in Rust.
--
-- reservation:LEASE   endpoint, tokens, since (when it was made), start (when the call may go)

-- Milliseconds for which a reservation is kept beyond its time.
local RESERVATION_GRACE = 3000

-- Ends a reservation; returns it if it still held.
local function end_reservation(lease)
  local record = key('reservation', lease)
  local held = redis.call('HMGET', record, 'since', 'start', 'tokens', 'endpoint')
  if not held[1] then return nil end
  redis.call('DEL', record)
  local since, start = tonumber(held[1]), tonumber(held[2])
  if since > now or now > start + RESERVATION_GRACE then return nil end
  return { start = start, tokens = tonumber(held[3]), endpoint = held[4] }
end

-- Takes what a call needs of its endpoint; answers how many milliseconds it has to wait, and for what,
-- or nothing if it may go now. During a cooldown nothing is taken, and a reservation ends.
local function reserve(lease, name, endpoint, tokens)
  local held = end_reservation(lease)
  if endpoint.cooldown_until then return endpoint.cooldown_until - now, 'cooldown' end
  if held then put_back(endpoint, held.tokens) end
  local delay, reason = delay_of(endpoint, tokens)
  take(endpoint, tokens)
  if not delay then return nil end
  local start = now + delay
  if held then start = math.min(start, held.start) end
  if start <= now then return nil end
  local record = key('reservation', lease)
  redis.call('HSET', record, 'endpoint', name, 'tokens', whole(tokens), 'since', whole(now),
    'start', whole(start))
  redis.call('PEXPIRE', record, whole(start - now + RESERVATION_GRACE))
  return start - now, reason
end

-- Gives back what a call reserved that no longer waits.
local function cancel_reservation(lease)
  local held = end_reservation(lease)
  local endpoint = held and known_endpoint(held.endpoint)
  if not endpoint then return end
  put_back(endpoint, held.tokens)
  save_endpoint(held.endpoint, endpoint)
end
