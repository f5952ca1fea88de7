-- Learns from what a provider said.
-- Arguments: endpoint, requests and tokens per minute (nothing: not told), the pause that a refusal
-- asks for in milliseconds (nothing: no refusal), the rule by which it counts tokens, its scale of input
-- tokens, the most tokens that were left (nothing: none was learned just now).

local known = known_endpoint(ARGV[4])
local endpoint = known or endpoint_of(ARGV[4])
local pause = tonumber(ARGV[7])
local news = learn(endpoint, { requests = tonumber(ARGV[5]), tokens = tonumber(ARGV[6]) })
-- A count that was too low explains the refusal, and holds no longer: the limits are right.
if ARGV[8] ~= '' then endpoint.throttled = now end
if pause then refuse(endpoint, pause) end
-- What tells nothing new changes nothing: even a refresh rounds the refill.
if news or pause or ARGV[8] ~= '' or not known then save_endpoint(ARGV[4], endpoint) end
-- Another limit is another bucket.
if news then redis.call('HDEL', key('endpoint', ARGV[4]), 'fullest') end
keep_counting(ARGV[4], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10]))
-- Every answer tells its limits: waking everybody for old news would be dear.
if news or pause then tell_changes() end
return {}
