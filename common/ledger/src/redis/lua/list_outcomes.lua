-- How jobs of a run ended in their last round, some at a time.
-- Arguments: run, where to go on (0: at the start).
-- Answers: where to go on (0: that was all), then job, round and outcome of each.

local page = redis.call('HSCAN', key('results', ARGV[4]), ARGV[5], 'COUNT', 1000)
local answer, found = { page[1] }, page[2]
for position = 1, #found, 2 do
  -- A result's own outcome comes before anything that an item brings along, and no text can hold
  -- a quotation mark that is not escaped.
  local round, outcome = found[position + 1]:match('^(%d+) .-"outcome":"([%l_]+)"')
  answer[#answer + 1] = found[position]
  answer[#answer + 1] = round or ''
  answer[#answer + 1] = outcome or ''
end
return answer
