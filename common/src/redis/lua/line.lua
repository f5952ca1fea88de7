-- Who waits for what, in the order in which they came. Whoever waits ahead counts as served
-- already, so that a large ask gets its turn.
--
-- turn            a counter: the order of coming
-- place:LEASE     a caller's place: line, turn, tokens, worst, seen
-- places          places by the time until which they are kept
-- line:NAME       the leases that wait for one thing, by turn; NAME is 'money:SCOPE' or
--                 'rates:ENDPOINT'

-- How long a place is kept beyond the time at which its holder was told to ask again.
local GRACE = 3000

local function leave(lease)
  local place = key('place', lease)
  local line = redis.call('HGET', place, 'line')
  if not line then return end
  redis.call('ZREM', key('line', line), lease)
  redis.call('ZREM', key('places'), lease)
  redis.call('DEL', place)
end

-- Forgets those who no longer ask, and a place of our own from before a clock was set back.
local function prune(lease)
  local late = redis.call('ZRANGEBYSCORE', key('places'), '-inf', '(' .. whole(now))
  for _, gone in ipairs(late) do leave(gone) end
  local seen = redis.call('HGET', key('place', lease), 'seen')
  if seen and tonumber(seen) > now then leave(lease) end
end

-- What those ahead of this caller in a line want: a list of one field of their places.
local function ahead(lease, line, field)
  local turn = redis.call('HGET', key('place', lease), 'turn')
  local before = turn and '(' .. turn or '+inf'
  local wanted = {}
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', key('line', line), '-inf', before)) do
    local place = redis.call('HMGET', key('place', other), field, 'seen')
    if not place[2] or tonumber(place[2]) > now then
      leave(other)
    else
      wanted[#wanted + 1] = place[1]
    end
  end
  return wanted
end

-- Keeps or gives a place to a caller that is told to ask again after `delay` milliseconds.
local function wait(lease, line, tokens, worst, delay)
  local place = key('place', lease)
  local held = redis.call('HMGET', place, 'turn', 'line')
  local turn = held[1] or whole(redis.call('INCR', key('turn')))
  if held[2] and held[2] ~= line then redis.call('ZREM', key('line', held[2]), lease) end
  redis.call('HSET', place, 'line', line, 'turn', turn, 'tokens', whole(tokens),
    'worst', worst, 'seen', whole(now))
  redis.call('ZADD', key('line', line), turn, lease)
  redis.call('ZADD', key('places'), whole(now + delay + GRACE), lease)
end
