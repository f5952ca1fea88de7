-- Rows of a shard, ordered by job. Arguments: run, number, whether open ones (1 or 0), the
-- job after which to start, the maximum number.
-- Returns for each: job, round, open, lease, record.

local run = ARGV[4]
local first = place_of(ARGV[5], ARGV[6], ARGV[7])
local last = place_of(ARGV[5], ARGV[6], '\255')
local places = redis.call('ZRANGEBYLEX', key('batch_places', run), '(' .. first, '[' .. last,
  'LIMIT', 0, ARGV[8])
local answer = {}
for _, place in ipairs(places) do
  local job = place:sub(14)
  local row = batch_row(run, job)
  for _, field in ipairs({ job, row.round, row.open, row.lease, row.record }) do
    answer[#answer + 1] = field
  end
end
return answer
