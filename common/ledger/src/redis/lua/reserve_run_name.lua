-- Reserves the name of a new run while its budget is written and until it is announced, or releases it.
-- Arguments: run, record, milliseconds; 0 to release.
-- Returns: 1, or 0 if a run has the name or another record reserves it.

local run = ARGV[4]
local reservation = key('starting', run)
local holder = redis.call('GET', reservation)
if holder and holder ~= ARGV[5] then return { '0' } end
if ARGV[6] == '0' then
  redis.call('DEL', reservation)
  return { '1' }
end
if redis.call('HEXISTS', key('run', run), 'record') == 1 then return { '0' } end
redis.call('SET', reservation, ARGV[5], 'PX', ARGV[6])
return { '1' }
