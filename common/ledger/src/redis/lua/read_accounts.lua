-- Records of scopes, in one step. Arguments: for each scope the budget's and the account's name.
-- Returns for each: the budget (empty: no record), committed, presumed, outstanding, overrun,
-- stopped, carried.

local answer = {}
for position = 4, #ARGV, 2 do
  answer[#answer + 1] = redis.call('GET', key('budget', ARGV[position])) or ''
  for _, figure in ipairs(figures_of(key('account', ARGV[position + 1]))) do
    answer[#answer + 1] = figure
  end
end
return answer
