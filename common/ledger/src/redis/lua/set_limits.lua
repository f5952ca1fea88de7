-- Sets the user's limits of an endpoint.
-- Arguments: endpoint, requests and tokens per minute (empty: none), refund unused (1 or 0).

local endpoint = endpoint_of(ARGV[4])
take_limits(endpoint, {
  given_requests = tonumber(ARGV[5]) or 'none', given_tokens = tonumber(ARGV[6]) or 'none',
})
endpoint.refund_unused = tonumber(ARGV[7])
save_endpoint(ARGV[4], endpoint)
notify_changes()
return {}
