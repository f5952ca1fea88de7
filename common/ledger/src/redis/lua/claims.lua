-- Claims, results and cached replies.
--
-- claims:RUN      by job: 'ROUND FENCE STARTS ALONE_STARTS ALONE OWNER HOLDER': starts of this round
--                 without an end, how many of them were isolated, whether the current one is, and the
--                 process that has claimed the job, if any
-- alive:PROCESS   a channel that the process subscribes to while it is connected
-- carried:RUN     cost of settled calls of unfinished jobs: 'JOB:calls', 'JOB:cost', 'JOB:input',
--                 'JOB:cached_input', 'JOB:output'; 'JOB:unmetered', the number of those calls
--                 without a reported usage or cost; 'JOB:missed', the number of workers without a
--                 file of it; and 'JOB:resent', how often it was resent as a dead letter
-- results:RUN     by job: 'ROUND RESULT', of the highest round
-- reply:QUESTION  a cached reply
-- replayed:RUN    'JOB:ROUND' of jobs that were resent, in addition to the published ones
-- run:RUN         state of a run: record, expected, published, cancelled, paused, progress, kept; and
--                 `unusable`, the number of consecutive items without a usable reply

local function claim_of(run, job)
  local text = redis.call('HGET', key('claims', run), job)
  if not text then return nil end
  local round, fence, starts, alone_starts, alone, owner, holder =
    text:match('^(%d+) (%d+) (%d+) (%d+) (%d+) (%S*) ?(%S*)$')
  return {
    round = tonumber(round), fence = tonumber(fence), starts = tonumber(starts),
    alone_starts = tonumber(alone_starts), alone = tonumber(alone), owner = owner,
    holder = holder,
  }
end

local function write_claim(run, job, claim)
  local numbers = {
    whole(claim.round), whole(claim.fence), whole(claim.starts), whole(claim.alone_starts),
    whole(claim.alone), claim.owner, claim.holder,
  }
  redis.call('HSET', key('claims', run), job, table.concat(numbers, ' '))
end

-- The claim, if it was not taken over.
local function held_claim(run, job, round, fence)
  local claim = claim_of(run, job)
  local holds = claim and claim.round == tonumber(round) and claim.fence == tonumber(fence)
  return holds and claim or nil
end

-- Extends the retention of a closed run's records after a use, to within a hundredth of it. `used` is
-- a record that was just written; its remaining time decides whether the others are extended.
local function extend_retention(run, used)
  local kept = redis.call('HGET', key('run', run), 'kept')
  if not kept then return end
  local left = used and redis.call('PTTL', key(used, run)) or -1
  if left >= 0 and left >= tonumber(kept) * 0.99 then return end
  local kinds = {
    'claims', 'carried', 'results', 'replayed', 'run', 'batch_rows', 'batch_places', 'batch_shards',
  }
  for _, kind in ipairs(kinds) do
    redis.call('PEXPIRE', key(kind, run), kept)
  end
end

local function store_reply(cache_key, reply, kept)
  if cache_key ~= '' then redis.call('SET', key('reply', cache_key), reply, 'PX', kept) end
end

-- Adds a settled call to the cost that a job carries.
local function carry(run, job, cost, input, cached_input, output, metered)
  local carried = key('carried', run)
  if metered == '0' then redis.call('HINCRBY', carried, job .. ':unmetered', 1) end
  redis.call('HINCRBY', carried, job .. ':calls', 1)
  add(carried, job .. ':cost', cost)
  add(carried, job .. ':input', input)
  add(carried, job .. ':cached_input', cached_input)
  add(carried, job .. ':output', output)
  add(key('account', 'run', run), 'carried', cost)
  extend_retention(run, 'carried')
end

local function unattributed_cost_of(run, job)
  local carried = redis.call('HMGET', key('carried', run), job .. ':calls', job .. ':cost',
    job .. ':input', job .. ':cached_input', job .. ':output', job .. ':unmetered')
  for position = 1, 6 do carried[position] = carried[position] or '0' end
  return carried
end

-- Stores a result under a claim that holds: it includes all cost that the job carried. A usable reply
-- ('1') resets the count of items without one.
local function store_result(run, job, claim, result, usable)
  if usable == '1' then redis.call('HDEL', key('run', run), 'unusable') end
  redis.call('HSET', key('results', run), job, whole(claim.round) .. ' ' .. result)
  claim.starts, claim.alone_starts, claim.holder = 0, 0, ''
  write_claim(run, job, claim)
  local cost = unattributed_cost_of(run, job)[2]
  if cost ~= '0' then add(key('account', 'run', run), 'carried', minus(cost)) end
  redis.call('HDEL', key('carried', run), job .. ':calls', job .. ':cost', job .. ':input',
    job .. ':cached_input', job .. ':output', job .. ':unmetered', job .. ':missed',
    job .. ':resent')
  extend_retention(run, 'results')
end
