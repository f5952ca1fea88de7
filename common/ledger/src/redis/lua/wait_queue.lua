-- Calls that wait for money, in the order in which they asked. A call that waits ahead counts as served
-- already, so that a large one gets its turn.
--
-- turn            a counter: the order of asking
-- place:LEASE     a call's place: line, turn, worst, seen
-- places          places by the time until which they are kept
-- line:SCOPE      the leases that wait for money of one scope, by turn

-- Milliseconds for which a place is kept after its caller has asked.
local PLACE_KEPT = 3000

-- Whether any call waits for money: mostly none does, and then there is nothing to look for.
local has_line = redis.call('EXISTS', key('places')) == 1

local function leave(lease)
  if not has_line then return end
  local place = key('place', lease)
  local line = redis.call('HGET', place, 'line')
  if not line then return end
  redis.call('ZREM', key('line', line), lease)
  redis.call('ZREM', key('places'), lease)
  redis.call('DEL', place)
end

-- Forgets those who no longer ask, and a place of our own from before a clock was set back.
local function prune(lease)
  if not has_line then return end
  local late = redis.call('ZRANGEBYSCORE', key('places'), '-inf', '(' .. whole(now))
  for _, gone in ipairs(late) do leave(gone) end
  local seen = redis.call('HGET', key('place', lease), 'seen')
  if seen and tonumber(seen) > now then leave(lease) end
end

-- The worst costs of those ahead of this call in a line.
local function ahead(lease, line)
  if not has_line then return {} end
  local turn = redis.call('HGET', key('place', lease), 'turn')
  local before = turn and '(' .. turn or '+inf'
  local wanted = {}
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', key('line', line), '-inf', before)) do
    local place = redis.call('HMGET', key('place', other), 'worst', 'seen')
    if not place[2] or tonumber(place[2]) > now then
      leave(other)
    else
      wanted[#wanted + 1] = place[1]
    end
  end
  return wanted
end

-- Keeps or gives a place to a call that is told to wait for money.
local function wait(lease, line, worst)
  local place = key('place', lease)
  local held = redis.call('HMGET', place, 'turn', 'line')
  local turn = held[1] or whole(redis.call('INCR', key('turn')))
  if held[2] and held[2] ~= line then redis.call('ZREM', key('line', held[2]), lease) end
  redis.call('HSET', place, 'line', line, 'turn', turn, 'worst', worst, 'seen', whole(now))
  redis.call('ZADD', key('line', line), turn, lease)
  redis.call('ZADD', key('places'), whole(now + PLACE_KEPT), lease)
end

-- Wakes those who wait for money, in every process.
local function tell_freed_money()
  if has_line then tell_changes() end
end
