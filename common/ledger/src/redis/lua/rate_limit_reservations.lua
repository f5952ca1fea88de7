-- Calls that wait for the rate limits of an endpoint. The demand of such a call is taken from the
-- buckets at its first request, which fixes its start time: later calls come after it without a search
-- through the waiting ones. The rules are those of the state machine in Rust.
--
-- reservation:LEASE   endpoint, tokens, since (when it was made), start (when the call may start)

-- Milliseconds for which a reservation is kept beyond its start time.
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

-- Reserves a call's demand on its endpoint; returns how many milliseconds it has to wait and for what,
-- or nothing if it may start now. During a cooldown nothing is taken, and a reservation ends.
local function reserve(lease, name, endpoint, tokens)
  local held = end_reservation(lease)
  if endpoint.cooldown_until then return endpoint.cooldown_until - now, 'cooldown' end
  if held then return_tokens(endpoint, held.tokens) end
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

-- Returns the reservation of a call that stopped waiting.
local function cancel_reservation(lease)
  local held = end_reservation(lease)
  local endpoint = held and known_endpoint(held.endpoint)
  if not endpoint then return end
  return_tokens(endpoint, held.tokens)
  save_endpoint(held.endpoint, endpoint)
end
