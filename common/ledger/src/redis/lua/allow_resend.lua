-- Decides whether a dead letter is resent: its job has neither a result nor an unfinished start in
-- its round, so it cannot have killed a worker. A job is resent a few times at most.
-- Arguments: run, job, round.
-- Returns: whether to resend it (1 or 0).

local run, job, round = ARGV[4], ARGV[5], tonumber(ARGV[6])
local MAX_RESENDS = 3

if redis.call('EXISTS', key('run', run)) == 0 then return { '0' } end
local stored = redis.call('HGET', key('results', run), job)
if stored and tonumber(stored:match('^(%d+) ')) >= round then return { '0' } end
local claim = claim_of(run, job)
if claim and (claim.round > round or claim.round == round and claim.starts > 0) then
  return { '0' }
end
local resends = redis.call('HINCRBY', key('carried', run), job .. ':resent', 1)
return { resends <= MAX_RESENDS and '1' or '0' }
