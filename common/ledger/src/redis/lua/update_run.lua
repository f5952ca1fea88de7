-- Notes something of a run. Arguments: run, what, value:
-- 'published'  how many results will come of what was published so far
-- 'paused'     why no call can succeed; the first reason stays
-- 'progress'   how far its journal has come
-- 'record'     what it is; another one than before wants another report
-- Answers: whether there is such a run (1 or 0).

local run, what, value = ARGV[4], ARGV[5], ARGV[6]
local record = key('run', run)
if redis.call('EXISTS', record) == 0 then return { '0' } end
if what == 'paused' then
  redis.call('HSETNX', record, what, value)
  tell_changes()
elseif what == 'record' then
  if redis.call('HGET', record, what) ~= value then
    redis.call('HSET', record, what, value)
    redis.call('HDEL', record, 'progress')
  end
else
  redis.call('HSET', record, what, value)
end
return { '1' }
