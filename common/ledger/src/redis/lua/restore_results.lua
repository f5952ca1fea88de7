-- Stores results that a journal has and the server has lost, so that their jobs are not judged again.
-- Arguments: run, then for each result its job, its round and its text.

local run = ARGV[4]
for position = 5, #ARGV, 3 do
  local job, round, result = unpack(ARGV, position, position + 2)
  local stored = redis.call('HGET', key('results', run), job)
  if not stored or tonumber(stored:match('^(%d+) ')) < tonumber(round) then
    redis.call('HSET', key('results', run), job, round .. ' ' .. result)
  end
end
extend_retention(run)
return {}
