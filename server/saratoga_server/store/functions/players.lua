-- Players and their names.

local function keep_guest(key, kept)
  if redis.call('HEXISTS', key, 'skeleton') == 0 then
    redis.call('PEXPIRE', key, kept)
  end
end

-- keys: the player. argument: {kept ms, field, value ...}. Answers 1 if the row was created now.
local function create_player(keys, args)
  local fields = cmsgpack.unpack(args[1])
  local kept = table.remove(fields, 1)
  if redis.call('HEXISTS', keys[1], 'token_hash') == 1 then
    return 0
  end
  redis.call('HSET', keys[1], unpack(fields))
  keep_guest(keys[1], kept)
  return 1
end

local CLAIMS_KEPT = 8

-- Return the ids of the player's newest `claim_name` commands, in rising order.
local function claims_of(key)
  local ids = {}
  for id in string.gmatch(redis.call('HGET', key, 'claims') or '', '%d+') do
    ids[#ids + 1] = tonumber(id)
  end
  return ids
end

local function note_claim(key, claims, id)
  claims[#claims + 1] = id
  local kept = {}
  for i = math.max(1, #claims - CLAIMS_KEPT + 1), #claims do
    kept[#kept + 1] = string.format('%.0f', claims[i])
  end
  redis.call('HSET', key, 'claims', table.concat(kept, ' '))
  if tonumber(redis.call('HGET', key, 'last_id') or 0) < id then
    redis.call('HSET', key, 'last_id', string.format('%.0f', id))
  end
end

local MOST_GIVEN_UP = 3

local function name_key(skeleton)
  return 'name:' .. skeleton
end

-- Return the skeletons of the names that a player has given up and that are still held for the player, oldest
-- first. A name that was held long enough may be another player's by now.
local function given_up_by(key, player)
  local packed, held = redis.call('HGET', key, 'given_up'), {}
  for _, skeleton in ipairs(packed and cmsgpack.unpack(packed) or {}) do
    local is_held = redis.call('ZSCORE', 'expiring', name_key(skeleton))
    if is_held and redis.call('GET', name_key(skeleton)) == player then
      held[#held + 1] = skeleton
    end
  end
  return held
end

-- Hold a name that the player gives up; the oldest of more than three is freed.
local function give_up(key, player, skeleton, kept)
  local names = {}
  for _, held in ipairs(given_up_by(key, player)) do
    if held ~= skeleton then
      names[#names + 1] = held
    end
  end
  names[#names + 1] = skeleton
  for _ = 1, #names - MOST_GIVEN_UP do
    local oldest = table.remove(names, 1)
    redis.call('ZREM', 'expiring', name_key(oldest))
    redis.call('DEL', name_key(oldest))
  end
  redis.call('ZADD', 'expiring', now_ms() + kept, name_key(skeleton))
  redis.call('HSET', key, 'given_up', cmsgpack.pack(names))
end

-- keys: the player, the new name. args: player, name, skeleton, command id or 0, ms for which the old name is
-- held, 1 if an administrator does it, who may give a name that is held for nobody. Answers 1; 0 if another
-- player has the name; -1 if the player does not exist, or this or a later command was carried out before.
local function claim_name(keys, args)
  local player, name, skeleton, id = args[1], args[2], args[3], tonumber(args[4])
  local claims = claims_of(keys[1])
  if redis.call('HEXISTS', keys[1], 'token_hash') == 0 or (id > 0 and id <= (claims[#claims] or 0)) then
    return -1
  end
  local holder = redis.call('GET', keys[2])
  if holder and holder ~= player and (holder ~= '' or args[6] ~= '1') then
    return 0
  end
  redis.call('ZREM', 'expiring', keys[2])
  redis.call('SET', keys[2], player)
  local old = redis.call('HGET', keys[1], 'skeleton')
  if old and old ~= skeleton and redis.call('GET', name_key(old)) == player then
    give_up(keys[1], player, old, tonumber(args[5]))
  end
  redis.call('HSET', keys[1], 'name', name, 'skeleton', skeleton)
  redis.call('PERSIST', keys[1])
  if id > 0 then
    note_claim(keys[1], claims, id)
  end
  return 1
end

-- keys: the player. args: kept ms, field, value. Does nothing if the player does not exist.
local function set_player(keys, args)
  if redis.call('HEXISTS', keys[1], 'token_hash') == 1 then
    redis.call('HSET', keys[1], args[2], args[3])
    keep_guest(keys[1], args[1])
  end
  return 1
end

-- keys: the player. args: kept ms, command id, table. Notes a join; the highest id never falls.
local function note_join(keys, args)
  local stored = redis.call('HMGET', keys[1], 'token_hash', 'last_id')
  if stored[1] then
    local last_id = math.max(tonumber(stored[2] or 0), tonumber(args[2]))
    redis.call('HSET', keys[1], 'joined', args[3] .. ' ' .. args[2], 'last_id', string.format('%.0f', last_id))
    keep_guest(keys[1], args[1])
  end
  return 1
end

-- keys: the player. args: kept ms, fields. Counts a hello and answers the fields, with its number: the
-- time, or the last number plus one if that is later. So numbers rise even if a clock was set back, or
-- the newest number was lost with a primary.
local function meet_player(keys, args)
  if redis.call('HEXISTS', keys[1], 'token_hash') == 1 then
    local last = tonumber(redis.call('HGET', keys[1], 'hello') or 0) or 0
    redis.call('HSET', keys[1], 'hello', string.format('%.0f', math.max(last + 1, now_ms())))
    keep_guest(keys[1], args[1])
  end
  return redis.call('HMGET', keys[1], unpack(args, 2))
end

-- keys: the player. args: kept ms, table, a table that may be replaced or '', the number of writes after
-- which it may be replaced or 0 for any. Answers the other table that the row names, or '', and the number
-- of writes of the row's table.
local function sit(keys, args)
  local stored = redis.call('HMGET', keys[1], 'token_hash', 'table', 'table_writes')
  local there, writes = stored[2] or '', tonumber(stored[3] or 0) or 0
  local is_replaced = there == args[3] and (tonumber(args[4]) == 0 or tonumber(args[4]) == writes)
  if there ~= '' and there ~= args[2] and not is_replaced then
    return {there, writes}
  end
  if stored[1] then
    writes = writes + 1
    redis.call('HSET', keys[1], 'table', args[2], 'table_writes', string.format('%.0f', writes))
    keep_guest(keys[1], args[1])
  end
  return {'', writes}
end

local CODES_KEPT = 8

-- Only a player's newest commands can be repeated: the codes of older ones are dropped.
local function drop_old_codes(key)
  local ids = {}
  for _, field in ipairs(redis.call('HKEYS', key)) do
    local id = string.match(field, '^code:(%d+)$')
    if id then
      ids[#ids + 1] = tonumber(id)
    end
  end
  table.sort(ids)
  for i = 1, #ids - CODES_KEPT do
    redis.call('HDEL', key, string.format('code:%.0f', ids[i]))
  end
end

-- keys: the player. args: kept ms, command id, code, the code that it replaces or ''. Answers the
-- code of the command, the player's name or '', the answers of `sit`, and 1 if the code was reserved before: then the row is left as it is. The code is '' if the player does not exist, or, with -1,
-- if this or a later command was accepted before and the command's code is not remembered.
local function reserve_table(keys, args)
  if redis.call('HEXISTS', keys[1], 'token_hash') == 0 then
    return {'', '', '', 0, 0}
  end
  local name = redis.call('HGET', keys[1], 'name') or ''
  local reserved = redis.call('HGET', keys[1], 'code:' .. args[2])
  if reserved and reserved ~= args[4] then
    return {reserved, name, '', 0, 1}
  end
  if not reserved then
    if tonumber(args[2]) <= tonumber(redis.call('HGET', keys[1], 'last_id') or 0) then
      return {'', name, '', 0, -1}
    end
    redis.call('HSET', keys[1], 'last_id', args[2])
  end
  redis.call('HSET', keys[1], 'code:' .. args[2], args[3])
  drop_old_codes(keys[1])
  keep_guest(keys[1], args[1])
  local seated = sit(keys, {args[1], args[3], args[4], 0})
  return {args[3], name, seated[1], seated[2], 0}
end

-- keys: the player. args: player, ms for which the name is held. The names are held for nobody: nothing says
-- whose they were.
local function forget_player(keys, args)
  for _, skeleton in ipairs(given_up_by(keys[1], args[1])) do
    redis.call('SET', name_key(skeleton), '')
  end
  local name = name_key(redis.call('HGET', keys[1], 'skeleton') or '')
  if redis.call('GET', name) == args[1] then
    redis.call('ZADD', 'expiring', now_ms() + tonumber(args[2]), name)
    redis.call('SET', name, '')
  end
  redis.call('DEL', keys[1])
  return 1
end

offer_write('create_player', create_player)
offer_write('claim_name', claim_name)
offer_write('set_player', set_player)
offer_write('note_join', note_join)
offer_write('meet_player', meet_player)
offer_write('sit', sit)
offer_write('reserve_table', reserve_table)
offer_write('forget_player', forget_player)
