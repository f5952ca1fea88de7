-- Writes down what may be spent, and ends a run's stop after an overrun: somebody decided to go on.
-- What a run has cost already is booked in the same step, should the server have forgotten it.
-- Whoever opens a run on a ledger without budgets for day and month leaves those unlimited, and
-- accepts the server as it is if it is new.
-- Arguments: 'run:ID', 'day' or 'month'; 'unlimited' or an amount; whether the caller has seen the
-- ledger in use (1 or 0); what the results of the run cost, by its journal.

look_for_trace(ARGV[6])
if not paused() then redis.call('HSETNX', key('ledger'), 'server', server) end
if ARGV[4]:sub(1, 4) == 'run:' then
  if ARGV[7] ~= '0' then tell(ARGV[4]:sub(5), ARGV[7]) end
  redis.call('HSET', key('account', ARGV[4]), 'stopped', '0')
  redis.call('SETNX', key('budget', 'day'), 'unlimited')
  redis.call('SETNX', key('budget', 'month'), 'unlimited')
end
redis.call('SET', key('budget', ARGV[4]), ARGV[5])
tell_changes()
return {}
