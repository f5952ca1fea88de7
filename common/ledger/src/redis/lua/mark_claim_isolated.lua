-- Marks the start of the current claim as isolated, or not.
-- Arguments: run, job, round, fence, whether it is isolated (1 or 0).

local run, job, alone = ARGV[4], ARGV[5], tonumber(ARGV[8])
local claim = held_claim(run, job, ARGV[6], ARGV[7])
if claim then
  claim.alone_starts, claim.alone = claim.alone_starts - claim.alone + alone, alone
  write_claim(run, job, claim)
end
return {}
