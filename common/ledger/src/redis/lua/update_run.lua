-- Updates a field of a run. Arguments: run, field, value:
-- 'published'  number of results to come of the jobs published so far
-- 'retrying'   1 while next rounds of its jobs are published
-- 'paused'     reason of its pause; the first one stays
-- 'commands'   commands of the stages, as its first worker has them; the first ones stay
-- 'progress'   progress of its journal
-- 'record'     its record; a changed one requires a new report
-- Returns: whether there is such a run (1 or 0).

local run, what, value = ARGV[4], ARGV[5], ARGV[6]
local record = key('run', run)
if redis.call('EXISTS', record) == 0 then return { '0' } end
if what == 'paused' or what == 'commands' then
  redis.call('HSETNX', record, what, value)
  notify_changes()
elseif what == 'record' then
  if redis.call('HGET', record, what) ~= value then
    redis.call('HSET', record, what, value)
    redis.call('HDEL', record, 'progress')
  end
else
  redis.call('HSET', record, what, value)
end
return { '1' }
