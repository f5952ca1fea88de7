-- State of a run. Arguments: run.
-- Returns: record, expected results, published, cancelled, paused, progress, commands, retrying, each
-- empty if absent; an empty record: no such run.

local fields = { 'record', 'expected', 'published', 'cancelled', 'paused', 'progress', 'commands', 'retrying' }
local status = redis.call('HMGET', key('run', ARGV[4]), unpack(fields))
for position = 1, #fields do status[position] = status[position] or '' end
return status
