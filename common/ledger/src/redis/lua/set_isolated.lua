-- Counts the start of who still holds the claim among those that are alone, or no longer.
-- Arguments: run, job, round, fence, whether it is alone (1 or 0).

local run, job, alone = ARGV[4], ARGV[5], tonumber(ARGV[8])
local claim = held_claim(run, job, ARGV[6], ARGV[7])
if claim then
  claim.alone_starts, claim.alone = claim.alone_starts - claim.alone + alone, alone
  write_claim(run, job, claim)
end
return {}
