-- Ends the start of the current claim. Arguments: run, job, round, fence.

local run, job = ARGV[4], ARGV[5]
local claim = held_claim(run, job, ARGV[6], ARGV[7])
if claim then
  claim.starts = math.max(claim.starts - 1, 0)
  claim.alone_starts, claim.alone = claim.alone_starts - claim.alone, 0
  claim.holder = ''
  write_claim(run, job, claim)
end
return {}
