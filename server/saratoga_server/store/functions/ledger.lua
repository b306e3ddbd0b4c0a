-- The ledger: a generation, a sequence and the newest time, by which a node notices that writes are lost.

local DAY_MS, FIELDS_KEPT = 86400000, 100

-- Remove the fields of processes that have been silent for a day, if there are many: a clock that was set must not
-- remove those of running ones.
local function tidy(key, now)
  if redis.call('HLEN', key) <= FIELDS_KEPT then
    return
  end
  local fields = redis.call('HGETALL', key)
  for i = 1, #fields, 2 do
    local at = string.sub(fields[i], 1, 5) == 'seen:' and tonumber(fields[i + 1])
    if at and now - at > DAY_MS then
      redis.call('HDEL', key, fields[i], 'node:' .. string.sub(fields[i], 6))
    end
  end
end

-- Raise a ledger that is as this process has read it; answer generation, sequence and newest time, or false.
-- `latest`: a clock that shows more is ahead, and the newest time becomes no later.
local function raise_ledger(key, known, known_own, new_generation, process, own, now, latest)
  local fields = redis.call('HMGET', key, 'generation', 'sequence', 'at', 'node:' .. process)
  local generation, sequence, at = fields[1], tonumber(fields[2]) or 0, tonumber(fields[3]) or 0
  if (known ~= '' and generation ~= known) or (tonumber(fields[4]) or 0) ~= known_own then
    return false
  end
  generation = generation or new_generation
  sequence, at = sequence + 1, math.max(at, math.min(now, latest))
  redis.call('HSET', key, 'generation', generation, 'sequence', sequence, 'at', at)
  redis.call('HSET', key, 'node:' .. process, own, 'seen:' .. process, now)
  if not fields[4] then
    tidy(key, now)
  end
  return {generation, sequence, at}
end

-- args: {generation for a ledger without one, word of this process, ms that it has run, the latest time that is taken
-- from the clock, {key, generation that it has read or '', its own time that it has read or 0, ...}}. Answers each ledger as it is after that; false for one
-- that was replaced meanwhile, and is left alone.
local function raise_ledgers(_, args)
  local new_generation, process, own, latest, known = unpack(cmsgpack.unpack(args[1]))
  local now, answer = now_ms(), {}
  for i = 1, #known, 3 do
    answer[#answer + 1] = raise_ledger(known[i], known[i + 1], known[i + 2], new_generation, process, own, now,
      latest)
  end
  return answer
end

-- args: ledgers. Sets the newest time of each to the time of the store's clock. Answers the clock's time, and the latest
-- newest time before, or 0.
local function accept_clock(_, args)
  local now, latest = now_ms(), 0
  for _, key in ipairs(args) do
    local at = tonumber(redis.call('HGET', key, 'at')) or 0
    latest = math.max(latest, at)
    if at > 0 then
      redis.call('HSET', key, 'at', now)
    end
  end
  return {now, latest}
end

offer_write('raise_ledgers', raise_ledgers)
offer_write('accept_clock', accept_clock)
