-- State of a job. Arguments: run, job.
-- Returns: round and outcome of its last result, and the round in which it was started last, each
-- empty if there is none.

local run, job = ARGV[4], ARGV[5]
local result = redis.call('HGET', key('results', run), job) or ''
-- As in list_outcomes.
local round, outcome = result:match('^(%d+) .-"outcome":"([%l_]+)"')
local claim = claim_of(run, job)
return { round or '', outcome or '', claim and whole(claim.round) or '' }
