-- Counts calls of a run that are admitted from now on under these labels too.
-- Arguments: run; the labels, comma-separated.

for label in ARGV[5]:gmatch('[^,]+') do open_budget_label(label) end
redis.call('SET', key('labels', ARGV[4]), ARGV[5])
return {}
