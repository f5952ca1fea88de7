-- Writes down what may be spent, and ends a run's stop after an overrun: somebody decided to go on.
-- What a run has cost already is booked in the same step, should the server have forgotten it.
-- Whoever opens a run on a ledger without budgets for day and month leaves those unlimited. On a
-- server without a ledger no call is admitted before an aggregator has reconciled it: whether it is
-- new, or was emptied, only the journals tell.
-- Arguments: 'run:ID', 'day', 'month', 'day:LABEL' or 'month:LABEL'; 'unlimited' or an amount; what the
-- results of the run cost, by its journal; the label, or nothing.
-- Answers: the budget before (nothing: no record).

look_for_trace('1')
if ARGV[4]:sub(1, 4) == 'run:' then
  local run = ARGV[4]:sub(5)
  date_told_costs(run)
  if ARGV[6] ~= '0' then tell(run, ARGV[6], true) end
  redis.call('HSET', key('account', ARGV[4]), 'stopped', '0')
  redis.call('SETNX', key('budget', 'day'), 'unlimited')
  redis.call('SETNX', key('budget', 'month'), 'unlimited')
end
open_label(ARGV[7])
local before = redis.call('GET', key('budget', ARGV[4])) or ''
redis.call('SET', key('budget', ARGV[4]), ARGV[5])
tell_changes()
return { before }
