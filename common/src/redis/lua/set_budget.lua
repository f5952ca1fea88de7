-- Writes down what may be spent, and ends a run's stop after an overrun: somebody decided to go on.
-- Whoever opens a run on a ledger without budgets for day and month leaves those unlimited, and
-- accepts the server as it is if none was known.
-- Arguments: 'run:ID', 'day' or 'month'; 'unlimited' or an amount.

redis.call('SET', key('budget', ARGV[4]), ARGV[5])
redis.call('HSETNX', key('ledger'), 'server', server)
if ARGV[4]:sub(1, 4) == 'run:' then
  redis.call('HSET', key('account', ARGV[4]), 'stopped', '0')
  redis.call('SETNX', key('budget', 'day'), 'unlimited')
  redis.call('SETNX', key('budget', 'month'), 'unlimited')
end
tell_changes()
return {}
