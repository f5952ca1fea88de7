-- Learns from what a provider said.
-- Arguments: endpoint, requests and tokens per minute (nothing: not told), the pause that a refusal
-- asks for in milliseconds (nothing: no refusal).

local endpoint = endpoint_of(ARGV[4])
local news = ARGV[7] ~= ''
local learned = {}
for position, field in pairs({ [5] = 'learned_requests', [6] = 'learned_tokens' }) do
  local limit = tonumber(ARGV[position])
  if limit and limit > 0 then
    news = news or endpoint[field] ~= limit
    learned[field] = limit
  end
end
take_limits(endpoint, learned)
if ARGV[7] ~= '' then refuse(endpoint, tonumber(ARGV[7])) end
save_endpoint(ARGV[4], endpoint)
-- Every answer tells its limits: waking everybody for old news would be dear.
if news then tell_changes() end
return {}
