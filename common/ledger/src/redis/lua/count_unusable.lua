-- Counts an item of a run whose judge gave no usable answer. Arguments: run.
-- Answers: how many items there are in a row.

local record = key('run', ARGV[4])
if redis.call('EXISTS', record) == 0 then return { '0' } end
return { whole(redis.call('HINCRBY', record, 'unusable', 1)) }
