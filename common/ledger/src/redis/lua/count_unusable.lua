-- Counts an item of a run without a usable reply of the judge. Arguments: run.
-- Returns: the number of consecutive items.

local record = key('run', ARGV[4])
if redis.call('EXISTS', record) == 0 then return { '0' } end
return { whole(redis.call('HINCRBY', record, 'unusable', 1)) }
