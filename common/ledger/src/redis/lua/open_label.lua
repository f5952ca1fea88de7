-- A label has a budget for days and one for months as soon as it is known: unlimited, until another is
-- given. Nothing is no label.

local function open_label(label)
  if label == '' then return end
  redis.call('SADD', key('labels'), label)
  redis.call('SETNX', key('budget', 'day', label), 'unlimited')
  redis.call('SETNX', key('budget', 'month', label), 'unlimited')
end
