-- Starts work on a job, or tells the result that it already has in this round or a later one.
-- Starts of an earlier round are forgotten: somebody decided to try again.
-- Arguments: run, job, round, owner, its process.
-- Answers: done RESULT · held · granted FENCE STARTS ALONE_STARTS CALLS COST INPUT CACHED_INPUT OUTPUT
-- UNMETERED.

local run, job, round, owner, process = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8]
-- No delivery is held for so long: what is older was left behind.
local LEFT_BEHIND_AFTER = 600000
-- A heartbeat of 15 s that is late. Below the 30 s after which the job comes again.
local LATE_AFTER = 25000

-- Whether another process has the job in hand and lives. One that is killed is disconnected at once;
-- one whose machine is gone is silent.
local function is_held(claim)
  if claim.holder == '' or claim.holder == process then return false end
  if now - claim.fence > LEFT_BEHIND_AFTER then return false end
  local beaten = tonumber(redis.call('ZSCORE', key('owners'), claim.owner) or '')
  if not beaten or now - beaten > LATE_AFTER then return false end
  return redis.call('PUBSUB', 'NUMSUB', key('alive', claim.holder))[2] > 0
end

local stored = redis.call('HGET', key('results', run), job)
if stored then
  local of, result = stored:match('^(%d+) (.*)$')
  if tonumber(of) >= round then return { 'done', result } end
end
local claim = claim_of(run, job) or {
  round = round, fence = 0, starts = 0, alone_starts = 0, owner = '', holder = '',
}
if is_held(claim) then return { 'held' } end
if round > claim.round then
  claim.round, claim.starts, claim.alone_starts = round, 0, 0
end
claim.starts, claim.alone = claim.starts + 1, 0
-- The time is part of the fence, so that a server that forgot a claim does not grant its fence again.
claim.fence = math.max(claim.fence + 1, now)
claim.owner, claim.holder = owner, process
write_claim(run, job, claim)
keep_for_a_while(run, 'claims')
return {
  'granted', whole(claim.fence), whole(claim.starts), whole(claim.alone_starts),
  unpack(carried_by(run, job)),
}
