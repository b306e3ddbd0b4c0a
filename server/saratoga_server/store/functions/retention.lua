-- The sweeper: deletes what was kept long enough, while the clocks can be trusted.

local HOUR, DAY = 3600000, 86400000

-- Return when sweeping may begin, and remember this visit. A store that was not visited for longer than `jump`
-- was either out of use, or its clock was or is wrong; a clock that was stepped back was wrong, and so was one
-- that lets things run out before the first visit.
local function trusted_from(now, has_due, jump, untrusted)
  local stored = redis.call('HMGET', 'swept', 'at', 'from')
  local at, from = tonumber(stored[1]), tonumber(stored[2] or 0)
  local has_jumped = has_due
  if at then
    has_jumped = now - at > jump or at - now > DAY
  end
  if has_jumped then
    from = now + untrusted
  end
  if has_jumped or not at or now - at > HOUR then
    redis.call('HSET', 'swept', 'at', now, 'from', from)
  end
  return from
end

local function delete_race(key)
  local racers = redis.call('HGET', key, 'racers')
  redis.call('UNLINK', key)
  for _, player in ipairs(racers and racers_of(racers) or {}) do
    redis.call('UNLINK', key .. ':log:' .. player)
  end
end

local function delete_table(key)
  local races = redis.call('HKEYS', key .. ':records')
  races[#races + 1] = redis.call('HGET', key, 'race') or nil
  for _, race in ipairs(races) do
    delete_race(key .. ':race:' .. race)
    redis.call('ZREM', 'expiring', key .. ':race:' .. race)
  end
  redis.call('UNLINK', key, key .. ':records')
  redis.call('ZREM', 'due', string.match(key, '^table:(.*)$'))
end

local function delete_key(key)
  local table_key, race = string.match(key, '^(table:.*):race:(%d+)$')
  if race then
    -- a younger table of this code may be racing
    if redis.call('HGET', table_key, 'race') ~= race then
      delete_race(key)
    end
  elseif string.find(key, '^table:') then
    delete_table(key)
  elseif string.find(key, '^leaderboard:') then
    redis.call('UNLINK', key, key .. ':rows', key .. ':rivals')
  else
    redis.call('UNLINK', key)
  end
  redis.call('ZREM', 'expiring', key)
end

-- args: the node's time, limit, ms by which the clocks may differ, ms of a jump, ms without trust after it.
-- Answers how many keys were deleted, the time from which on keys that are due may be deleted or 0, and by how
-- many ms the store's clock is ahead of the node's.
local function sweep(_, args)
  local node_time, limit, within, jump, untrusted = unpack(args)
  local now = now_ms()
  local ahead = now - tonumber(node_time)
  if math.abs(ahead) > tonumber(within) or redis.call('EXISTS', 'expiring') == 0 then
    return {0, 0, ahead}
  end
  now = math.min(now, tonumber(node_time))
  local due = redis.call('ZRANGEBYSCORE', 'expiring', '-inf', now, 'LIMIT', 0, limit)
  local from = trusted_from(now, #due > 0, tonumber(jump), tonumber(untrusted))
  if #due > 0 and from > now then
    return {0, from, ahead}
  end
  for _, key in ipairs(due) do
    delete_key(key)
  end
  return {#due, 0, ahead}
end

-- also when the store is full, because it makes room
offer_write('sweep', sweep, 'allow-oom')
