-- State of a run. Arguments: run.
-- Returns: record, expected results, published, cancelled, paused, progress, commands, each empty if
-- absent; an empty record: no such run.

local fields = { 'record', 'expected', 'published', 'cancelled', 'paused', 'progress', 'commands' }
local status = redis.call('HMGET', key('run', ARGV[4]), unpack(fields))
for position = 1, #fields do status[position] = status[position] or '' end
return status
