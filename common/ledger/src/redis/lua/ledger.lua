-- What is on record of a scope. Arguments: the budget's and the account's name.
-- Answers: the budget (nothing: no record), committed, presumed, outstanding, overrun, stopped,
-- carried.

local budget = redis.call('GET', key('budget', ARGV[4])) or ''
return { budget, unpack(figures_of(key('account', ARGV[5]))) }
