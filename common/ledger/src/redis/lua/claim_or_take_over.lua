-- Starts work on a job, or returns its result of this round or a later one. Starts of an earlier round
-- are cleared: a new round is a deliberate retry.
-- Arguments: run, job, round, owner, its process.
-- Returns: done RESULT · held · granted FENCE STARTS ALONE_STARTS CALLS COST INPUT CACHED_INPUT OUTPUT
-- UNMETERED.

local run, job, round, owner, process = ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8]
-- No delivery is held for longer: an older claim is abandoned.
local CLAIM_TIMEOUT = 600000
-- Time after which a heartbeat (15 s) is late; below the 30 s after which the job is redelivered.
local HEARTBEAT_TIMEOUT = 25000

-- True if another living process has claimed the job. A killed process is disconnected at once; one
-- whose machine is gone sends no heartbeat.
local function is_held(claim)
  if claim.holder == '' or claim.holder == process then return false end
  if now - claim.fence > CLAIM_TIMEOUT then return false end
  local beaten = tonumber(redis.call('ZSCORE', key('owners'), claim.owner) or '')
  if not beaten or now - beaten > HEARTBEAT_TIMEOUT then return false end
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
-- The time is part of the fence, so that a server that lost a claim does not grant its fence again.
claim.fence = math.max(claim.fence + 1, now)
claim.owner, claim.holder = owner, process
write_claim(run, job, claim)
extend_retention(run, 'claims')
return {
  'granted', whole(claim.fence), whole(claim.starts), whole(claim.alone_starts),
  unpack(unattributed_cost_of(run, job)),
}
