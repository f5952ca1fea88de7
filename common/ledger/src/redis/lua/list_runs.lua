-- Announced runs that have not expired, ordered by their announcement.

local known = {}
for _, run in ipairs(redis.call('ZRANGE', key('runs'), 0, -1)) do
  if redis.call('EXISTS', key('run', run)) == 1 then
    known[#known + 1] = run
  else
    redis.call('ZREM', key('runs'), run)
  end
end
return known
