-- Sets a budget, and ends a run's stop after an overrun: opening it again is a deliberate decision. The
-- cost of a run's results is booked in the same step, in case the server has lost it. Opening a run on
-- a ledger without budgets of day and month sets those to unlimited. On a server without a ledger no
-- call is admitted before an aggregator has reconciled it: only the journals show whether it is new or
-- was emptied.
-- Arguments: 'run:ID', 'day', 'month', 'day:LABEL' or 'month:LABEL'; 'unlimited' or an amount; the cost
-- of the run's results by its journal; the label, or empty.
-- Returns: the previous budget (empty: no record).

detect_emptied('1')
if ARGV[4]:sub(1, 4) == 'run:' then
  local run = ARGV[4]:sub(5)
  -- A lost account stays incomplete until the aggregator has reconciled it with the journal, which may
  -- be on another machine.
  if not is_account_lost(run) then
    if ARGV[6] ~= '0' then book_journal(run, ARGV[6], day_of(now), labels_of(run)) end
    redis.call('HSET', key('account', ARGV[4]), 'stopped', '0')
  end
  redis.call('SETNX', key('budget', 'day'), 'unlimited')
  redis.call('SETNX', key('budget', 'month'), 'unlimited')
end
open_budget_label(ARGV[7])
local before = redis.call('GET', key('budget', ARGV[4])) or ''
redis.call('SET', key('budget', ARGV[4]), ARGV[5])
notify_changes()
return { before }
