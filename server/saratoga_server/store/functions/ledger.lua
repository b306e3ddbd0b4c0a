-- The ledger: a generation, a sequence and the newest time, by which a node notices that writes are lost.

-- args: {generation for a ledger without one, {key, generation that the node knows or '', ...}}. Raises each
-- ledger whose generation the node knows; gives a generation to those of which it knows none. Answers generation,
-- sequence and newest time of each ledger; a ledger of another generation is answered and left alone.
local function raise_ledgers(_, args)
  local given = cmsgpack.unpack(args[1])
  local now, answer = now_ms(), {}
  for i = 1, #given[2], 2 do
    local key, known = given[2][i], given[2][i + 1]
    local fields = redis.call('HMGET', key, 'generation', 'sequence', 'at')
    local generation, sequence, at = fields[1], tonumber(fields[2]) or 0, tonumber(fields[3]) or 0
    if known == '' or generation == known then
      generation = generation or given[1]
      sequence, at = sequence + 1, math.max(at, now)
      redis.call('HSET', key, 'generation', generation, 'sequence', sequence, 'at', at)
    end
    local n = #answer
    answer[n + 1], answer[n + 2], answer[n + 3] = generation or '', sequence, at
  end
  return answer
end

-- args: ledgers. Lets no newest time be later than the store's clock. Answers the clock's time, and the latest
-- newest time before, or 0.
local function accept_clock(_, args)
  local now, latest = now_ms(), 0
  for _, key in ipairs(args) do
    local at = tonumber(redis.call('HGET', key, 'at')) or 0
    latest = math.max(latest, at)
    if at > now then
      redis.call('HSET', key, 'at', now)
    end
  end
  return {now, latest}
end

offer_sweep('raise_ledgers', raise_ledgers)
offer_sweep('accept_clock', accept_clock)
