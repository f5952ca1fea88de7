-- Records of batches.
--
-- batch_rows:RUN    by job: 'ROUND OPEN SHARD LEASE RECORD'; SHARD is 0 for a row in none
-- batch_places:RUN  rows in shards, ordered by job: 'SHARD OPEN JOB', SHARD
--                   with ten digits
-- batch_shards:RUN  by number: 'OWNER STEP'; and `last`, the last number used
-- batch_runs        runs that have shards
-- batch_owners      owners of shards, by the time at which they expire

local function batch_row(run, job)
  local text = redis.call('HGET', key('batch_rows', run), job)
  if not text then return nil end
  local round, open, shard, lease, record = text:match('^(%d+) (%d) (%d+) (%S+) (.*)$')
  return { round = round, open = open, shard = shard, lease = lease, record = record }
end

local function place_of(shard, open, job)
  return string.format('%010d', tonumber(shard)) .. ' ' .. open .. ' ' .. job
end

local function remove_batch_row(run, job)
  local row = batch_row(run, job)
  if not row then return end
  redis.call('ZREM', key('batch_places', run), place_of(row.shard, row.open, job))
  redis.call('HDEL', key('batch_rows', run), job)
end

-- Writes a row, replacing its job's earlier one.
local function write_batch_row(run, job, row)
  remove_batch_row(run, job)
  local fields = { row.round, row.open, row.shard, row.lease, row.record }
  redis.call('HSET', key('batch_rows', run), job, table.concat(fields, ' '))
  if row.shard ~= '0' then
    redis.call('ZADD', key('batch_places', run), 0, place_of(row.shard, row.open, job))
  end
end

-- Moves the open row of a job from one shard to another, if it is there.
local function move_batch_row(run, job, from, to)
  local row = batch_row(run, job)
  if not row or row.open ~= '1' or row.shard ~= from then return end
  row.shard = to
  write_batch_row(run, job, row)
end

local function shard_of(run, number)
  local text = redis.call('HGET', key('batch_shards', run), number)
  if not text then return nil end
  local owner, step = text:match('^(%S+) (.*)$')
  return { owner = owner, step = step }
end

local function write_shard(run, number, owner, step)
  redis.call('HSET', key('batch_shards', run), number, owner .. ' ' .. step)
  redis.call('SADD', key('batch_runs'), run)
end

-- True if a run has shards; one without is removed from the runs with shards.
local function has_shards(run)
  local shards = key('batch_shards', run)
  local others = redis.call('HEXISTS', shards, 'last')
  if redis.call('HLEN', shards) > others then return true end
  redis.call('SREM', key('batch_runs'), run)
  return false
end

local function forget_shard(run, number)
  redis.call('HDEL', key('batch_shards', run), number)
  has_shards(run)
end

-- The numbers of a run's shards, sorted.
local function numbers_of(run)
  local numbers = {}
  for _, name in ipairs(redis.call('HKEYS', key('batch_shards', run))) do
    if name ~= 'last' then numbers[#numbers + 1] = tonumber(name) end
  end
  table.sort(numbers)
  return numbers
end
