-- Gives a new label budgets for days and for months: unlimited, until others are set. An empty name is
-- no label.

local function open_budget_label(label)
  if label == '' then return end
  redis.call('SADD', key('labels'), label)
  redis.call('SETNX', key('budget', 'day', label), 'unlimited')
  redis.call('SETNX', key('budget', 'month', label), 'unlimited')
end
