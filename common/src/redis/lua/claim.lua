-- Starts work on a job, or tells the result that it already has in this round or a later one.
-- Starts of an earlier round are forgotten: somebody decided to try again.
-- Arguments: run, job, round, owner.
-- Answers: done RESULT · granted FENCE STARTS ALONE_STARTS CALLS COST INPUT CACHED_INPUT OUTPUT.

local run, job, round, owner = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local stored = redis.call('HGET', key('results', run), job)
if stored then
  local of, result = stored:match('^(%d+) (.*)$')
  if tonumber(of) >= round then return { 'done', result } end
end
local claim = claim_of(run, job) or { round = round, fence = 0, starts = 0, alone_starts = 0 }
if round > claim.round then
  claim.round, claim.starts, claim.alone_starts = round, 0, 0
end
claim.starts, claim.alone = claim.starts + 1, 0
-- The time is part of the fence, so that a server that forgot a claim does not grant its fence again.
claim.fence = math.max(claim.fence + 1, now)
claim.owner = owner
write_claim(run, job, claim)
keep_for_a_while(run)
return {
  'granted', whole(claim.fence), whole(claim.starts), whole(claim.alone_starts),
  unpack(carried_by(run, job)),
}
