-- The sweeper: deletes what was kept long enough, while the clocks can be trusted.

local HOUR, DAY = 3600000, 86400000

-- Return when sweeping may begin under this tag, and remember this visit. A store that was not visited
-- for longer than `jump` was either out of use, or its clock was or is wrong; a clock that was stepped back
-- was wrong, and so was one that lets things run out before the first visit.
local function trusted_from(tag, now, has_due, jump, untrusted)
  local stored = redis.call('HMGET', tag .. ':swept', 'at', 'from')
  local at, from = tonumber(stored[1]), tonumber(stored[2] or 0)
  local has_jumped = has_due
  if at then
    has_jumped = now - at > jump or at - now > DAY
  end
  if has_jumped then
    from = now + untrusted
  end
  if has_jumped or not at or now - at > HOUR then
    redis.call('HSET', tag .. ':swept', 'at', now, 'from', from)
  end
  return from
end

-- Delete the keys, the first ones last: if some are on another primary, a repetition finds them all.
local function delete_keys(keys)
  for i = #keys, 1, -1 do
    redis.call('UNLINK', keys[i])
  end
end

local function sweep_race(tag, code, race)
  local table_key = tag .. ':table:' .. code
  -- a younger table of this code may be racing
  if redis.call('HGET', table_key, 'race') ~= race then
    local keys = {}
    each_key_of_race(table_key .. ':race:' .. race, function(key)
      keys[#keys + 1] = key
    end)
    delete_keys(keys)
  end
end

local function sweep_table(tag, code)
  local table_key = tag .. ':table:' .. code
  local keys = {table_key, table_key .. ':records'}
  local races = redis.call('HKEYS', keys[2])
  races[#races + 1] = redis.call('HGET', table_key, 'race') or nil
  for _, race in ipairs(races) do
    each_key_of_race(table_key .. ':race:' .. race, function(key)
      keys[#keys + 1] = key
    end)
    redis.call('ZREM', tag .. ':expiring', code .. ':race:' .. race)
  end
  delete_keys(keys)
  redis.call('ZREM', tag .. ':due', code)
end

local function sweep_member(tag, member)
  local code, race = string.match(member, '^(.*):race:(%d+)$')
  local key = tag .. ':' .. member
  if tag == '{players}' then
    delete_keys({key})
  elseif string.sub(tag, 1, 2) ~= '{p' then
    delete_keys({key, key .. ':rows', key .. ':rivals'})
  elseif code then
    sweep_race(tag, code, race)
  else
    sweep_table(tag, member)
  end
  redis.call('ZREM', tag .. ':expiring', member)
end

local function sweep_tag(key, now, limit, jump, untrusted)
  if redis.call('EXISTS', key) == 0 then
    return 0, 0
  end
  local tag = string.sub(key, 1, -#':expiring' - 1)
  local due = redis.call('ZRANGEBYSCORE', key, '-inf', now, 'LIMIT', 0, limit)
  local from = trusted_from(tag, now, #due > 0, jump, untrusted)
  if #due == 0 or from > now then
    return 0, #due > 0 and from or 0
  end
  for _, member in ipairs(due) do
    sweep_member(tag, member)
  end
  return #due, 0
end

-- args: the node's time, limit, ms by which the clocks may differ, ms of a jump, ms without trust after it,
-- the sets of what is to be deleted. Answers how many entries are done with, the latest time from which on
-- entries that are due may be deleted or 0, and by how many ms the store's clock is ahead of the node's.
local function sweep(_, args)
  local node_time, limit, within, jump, untrusted = unpack(args, 1, 5)
  local now, swept, latest = now_ms(), 0, 0
  local ahead = now - tonumber(node_time)
  if math.abs(ahead) > tonumber(within) then
    return {0, 0, ahead}
  end
  for place = 6, #args do
    local left = tonumber(limit) - swept
    if left <= 0 then
      break
    end
    local whole, done, from = pcall(sweep_tag, args[place], math.min(now, tonumber(node_time)), left,
      tonumber(jump), tonumber(untrusted))
    if whole then
      swept, latest = swept + done, math.max(latest, from)
    elseif not is_elsewhere(done) then
      error(done)
    end
  end
  return {swept, latest, ahead}
end

-- also when the store is full, because it makes room
offer_sweep('sweep', sweep, 'allow-oom')
