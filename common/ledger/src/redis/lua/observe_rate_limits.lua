-- Updates limits by a provider's reply.
-- Arguments: endpoint, requests and tokens per minute (empty: not reported), the wait that a
-- refusal asks for in milliseconds (empty: no refusal), the rule by which it counts tokens, its scale of input
-- tokens, the maximum of remaining tokens (each empty without news).

local known = known_endpoint(ARGV[4])
local endpoint = known or endpoint_of(ARGV[4])
local pause = tonumber(ARGV[7])
local news = update_limits(endpoint, { requests = tonumber(ARGV[5]), tokens = tonumber(ARGV[6]) })
-- Too low a token count explains the refusal and is corrected: the limits are right.
if ARGV[8] ~= '' then endpoint.throttled = now end
if pause then refuse(endpoint, pause) end
-- A reply without news changes nothing: even a refresh rounds the refill.
if news or pause or ARGV[8] ~= '' or not known then save_endpoint(ARGV[4], endpoint) end
-- A changed limit starts the maximum anew.
if news then redis.call('HDEL', key('endpoint', ARGV[4]), 'fullest') end
update_counting(ARGV[4], ARGV[8], tonumber(ARGV[9]), tonumber(ARGV[10]))
-- Every reply reports its limits: waking all callers for unchanged ones would be expensive.
if news or pause then notify_changes() end
return {}
