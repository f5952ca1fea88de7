-- Outcomes of a run's jobs in their last round, a page at a time.
-- Arguments: run, cursor (0: the start).
-- Returns: next cursor (0: the end), then job, round and outcome of each.

local page = redis.call('HSCAN', key('results', ARGV[4]), ARGV[5], 'COUNT', 1000)
local answer, found = { page[1] }, page[2]
for position = 1, #found, 2 do
  -- A result's own outcome comes before any of its item's data, and no text can contain an
  -- unescaped quotation mark.
  local round, outcome = found[position + 1]:match('^(%d+) .-"outcome":"([%l_]+)"')
  answer[#answer + 1] = found[position]
  answer[#answer + 1] = round or ''
  answer[#answer + 1] = outcome or ''
end
return answer
