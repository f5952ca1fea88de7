-- Registers the directory of this fleet's results. Arguments: the directory's id, its host and its path,
-- and whether to take the fleet over from another directory (1 or 0).
-- Returns: id, host and path of the registered directory.
--
-- runs_directory  id, host and path of the directory, as the aggregator last registered it

local record = key('runs_directory')
local holder = redis.call('HGET', record, 'id')
if not holder or holder == ARGV[4] or ARGV[7] == '1' then
  redis.call('HSET', record, 'id', ARGV[4], 'host', ARGV[5], 'path', ARGV[6])
end
return redis.call('HMGET', record, 'id', 'host', 'path')
