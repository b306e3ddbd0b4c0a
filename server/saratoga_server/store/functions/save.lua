-- The one write of everything but moves: what must change together is written together, or not at all.

-- The commands that a write may have, and the type of key that each needs.
local COMMANDS = {
  SET = 'string', PFADD = 'string', HSET = 'hash', HDEL = 'hash', HINCRBY = 'hash', RPUSH = 'list',
  LREM = 'list', LTRIM = 'list', ZADD = 'zset', ZREM = 'zset', ZINCRBY = 'zset', BEST = 'zset', PERSIST = 'any',
  PEXPIRE = 'any', UNLINK = 'any', PUBLISH = 'any',
}

-- A guard is {key, field or '', values, unless}: the field, or the whole string, has one of the values, or
-- with `unless` none of them. `false` stands for a field that is not there.
local function holds(guard)
  local key, field, values, unless = unpack(guard)
  local stored
  if field == '' then
    stored = redis.call('GET', key)
  else
    stored = redis.call('HGET', key, field)
  end
  for _, value in ipairs(values) do
    if stored == value then
      return not unless
    end
  end
  return unless
end

-- A Function that fails half-way keeps its first writes, so the form of each is checked before the first.
local function check(write)
  local command, key, kind = write[1], write[2], COMMANDS[write[1]]
  assert(kind and #write > 2 or command == 'PERSIST' or command == 'UNLINK', 'not a write: ' .. tostring(command))
  local there = kind == 'any' and 'none' or redis.call('TYPE', key).ok
  assert(there == 'none' or there == kind, 'the key ' .. key .. ' is a ' .. there)
  if command == 'HINCRBY' then
    assert(tonumber(redis.call('HGET', key, write[3]) or 0), 'not a number: ' .. key .. ' ' .. write[3])
  end
end

-- {'BEST', ranking, player, score, row}: keep the row of a player's highest score, the earliest of equal ones.
local function keep_best(ranking, player, score, row)
  local held = redis.call('ZSCORE', ranking, player)
  if not held or tonumber(held) < tonumber(score) then
    redis.call('ZADD', ranking, score, player)
    redis.call('HSET', ranking .. ':rows', player, row)
  end
end

-- args: {token, guards, writes}, then the large values, for each of which `true` stands in the writes. Answers 0,
-- or the number of the first guard that does not hold. The key of the first guard is a hash, in which the token
-- stays: so a repeated call, whose first reply was lost, writes nothing and answers 0.
local function save(_, args)
  local token, guards, writes = unpack(cmsgpack.unpack(args[1]))
  local first, large = guards[1][1], 1
  if redis.call('HGET', first, 'writer') == token then
    return 0
  end
  for number, guard in ipairs(guards) do
    if not holds(guard) then
      return number
    end
  end
  for _, write in ipairs(writes) do
    for place, part in ipairs(write) do
      if part == true then
        large = large + 1
        write[place] = args[large]
      end
    end
    check(write)
  end
  redis.call('HSET', first, 'writer', token)
  for _, write in ipairs(writes) do
    if write[1] == 'BEST' then
      keep_best(unpack(write, 2))
    else
      redis.call(unpack(write))
    end
  end
  return 0
end

offer_write('save', save)
