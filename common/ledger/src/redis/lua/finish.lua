-- Stores a finished job if its claim still holds, and its reply in any case: it was paid for.
-- Arguments: run, job, round, fence, result, cache key (or empty), reply, retention (ms),
-- whether the result has a usable reply (1 or 0).
-- Returns: whether the claim holds (1 or 0).

local run, job = ARGV[4], ARGV[5]
store_reply(ARGV[9], ARGV[10], ARGV[11])
local claim = held_claim(run, job, ARGV[6], ARGV[7])
if not claim then return { '0' } end
store_result(run, job, claim, ARGV[8], ARGV[12])
return { '1' }
