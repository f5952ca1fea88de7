-- Lets the calls of a run that are admitted from now on count under these labels too.
-- Arguments: run; the labels, with commas between them.

for label in ARGV[5]:gmatch('[^,]+') do open_label(label) end
redis.call('SET', key('labels', ARGV[4]), ARGV[5])
return {}
