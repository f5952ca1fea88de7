-- Queue of calls that wait for money, in the order of their first requests. A call ahead in the queue
-- counts as served, so that a large one is not starved.
--
-- turn            counter of places, which gives their order
-- place:LEASE     a call's place: line, turn, worst, seen
-- places          places by the time at which they expire
-- line:SCOPE      the leases that wait for money of one scope, by turn

-- Milliseconds for which a place is kept after its last request.
local PLACE_TTL = 3000

-- True if any call waits for money; mostly none does, which saves the other reads.
local has_queue = redis.call('EXISTS', key('places')) == 1

local function remove_place(lease)
  if not has_queue then return end
  local place = key('place', lease)
  local line = redis.call('HGET', place, 'line')
  if not line then return end
  redis.call('ZREM', key('line', line), lease)
  redis.call('ZREM', key('places'), lease)
  redis.call('DEL', place)
end

-- Removes places of callers that stopped asking, and this lease's own from before a clock was set back.
local function remove_expired(lease)
  if not has_queue then return end
  local late = redis.call('ZRANGEBYSCORE', key('places'), '-inf', '(' .. whole(now))
  for _, gone in ipairs(late) do remove_place(gone) end
  local seen = redis.call('HGET', key('place', lease), 'seen')
  if seen and tonumber(seen) > now then remove_place(lease) end
end

-- The worst costs of calls ahead of this one in a queue.
local function amounts_ahead(lease, line)
  if not has_queue then return {} end
  local turn = redis.call('HGET', key('place', lease), 'turn')
  local before = turn and '(' .. turn or '+inf'
  local wanted = {}
  for _, other in ipairs(redis.call('ZRANGEBYSCORE', key('line', line), '-inf', before)) do
    local place = redis.call('HMGET', key('place', other), 'worst', 'seen')
    if not place[2] or tonumber(place[2]) > now then
      remove_place(other)
    else
      wanted[#wanted + 1] = place[1]
    end
  end
  return wanted
end

-- Queues a call that has to wait for money, or renews its place.
local function wait(lease, line, worst)
  local place = key('place', lease)
  local held = redis.call('HMGET', place, 'turn', 'line')
  local turn = held[1] or whole(redis.call('INCR', key('turn')))
  if held[2] and held[2] ~= line then redis.call('ZREM', key('line', held[2]), lease) end
  redis.call('HSET', place, 'line', line, 'turn', turn, 'worst', worst, 'seen', whole(now))
  redis.call('ZADD', key('line', line), turn, lease)
  redis.call('ZADD', key('places'), whole(now + PLACE_TTL), lease)
end

-- Wakes callers that wait for money, in every process.
local function notify_freed_money()
  if has_queue then notify_changes() end
end
