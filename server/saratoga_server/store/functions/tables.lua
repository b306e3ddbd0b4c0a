-- Tables, their timers, and the list of public ones.

local function open_boards(table_key, opening)
  local race, start, deadline, banked, players, epochs = unpack(opening)
  local key = table_key .. ':race:' .. race
  redis.call('HSET', key, 'start', start, 'deadline', deadline, 'commits', 0, 'at', start,
    'open', #players, 'racers', cmsgpack.pack(players))
  for i = 1, #players do
    local player = players[i]
    redis.call('HSET', key, player .. ':epoch', epochs[i], player .. ':last_id', 0,
      player .. ':length', 0, player .. ':banked', banked, player .. ':state', 'racing')
  end
  redis.call('HSET', table_key, 'race', race)
end

local function raise_epochs(key, players, epochs)
  for i = 1, #players do
    local epoch = redis.call('HGET', key, players[i] .. ':epoch')
    if epoch and tonumber(epoch) < epochs[i] then
      redis.call('HSET', key, players[i] .. ':epoch', epochs[i])
    end
  end
end

local function finish_race(table_key, finish, gone)
  local race, record, settlement = unpack(finish)
  redis.call('HSET', table_key .. ':records', race, record)
  if settlement ~= '' then
    redis.call('RPUSH', 'outbox', settlement)
  end
  redis.call('HDEL', table_key, 'race')
  local key = table_key .. ':race:' .. race
  if redis.call('EXISTS', key) == 1 then
    redis.call('HSET', key, 'over', 1)
    redis.call('ZADD', 'expiring', gone, key)
  end
end

-- Whether the record of a race has as many entries as the store; -1: it need not.
local function has_all_entries(table_key, finish)
  local race, entries = finish[1], finish[4]
  return entries < 0 or tonumber(redis.call('HGET', table_key .. ':race:' .. race, 'commits') or 0) == entries
end

-- keys: the table. argument: {expected version, body, writer, due or -1, race, its players, their
-- epochs, opening or {}, finish or {}, kept ms, finished logs kept ms}. Answers 1; 0 if the version differs, or a move was
-- made that the record lacks.
local function save_table(keys, args)
  local key = keys[1]
  local expected, body, writer, due, race, players, epochs, opening, finish, kept, logs_kept =
    unpack(cmsgpack.unpack(args[1]))
  local stored = redis.call('HMGET', key, 'version', 'writer')
  local version = tonumber(stored[1] or 0)
  if version ~= expected then
    return (version == expected + 1 and stored[2] == writer) and 1 or 0
  end
  local now = now_ms()
  local code = string.match(key, '^table:(.*)$')
  if #finish > 0 and not has_all_entries(key, finish) then
    return 0
  end
  redis.call('HSET', key, 'version', version + 1, 'body', body, 'writer', writer)
  if due < 0 then
    redis.call('ZREM', 'due', code)
  else
    redis.call('ZADD', 'due', due, code)
  end
  raise_epochs(key .. ':race:' .. race, players, epochs)
  if #opening > 0 then
    open_boards(key, opening)
  end
  if #finish > 0 then
    finish_race(key, finish, now + logs_kept)
  end
  redis.call('ZADD', 'expiring', now + kept, key)
  redis.call('PUBLISH', 'news', cmsgpack.pack({kind = 'touched', table = code, version = version + 1}))
  return 1
end

-- args: since, until, limit. Answers code and due time ..., the longest overdue first.
local function due_tables(_, args)
  local members = redis.call('ZRANGEBYSCORE', 'due', args[1], args[2], 'WITHSCORES', 'LIMIT', 0, args[3])
  local answer = {}
  for i = 1, #members, 2 do
    local code, n = members[i], #answer
    if redis.call('EXISTS', 'table:' .. code) == 1 then
      answer[n + 1], answer[n + 2] = code, tonumber(members[i + 1])
    else
      redis.call('ZREM', 'due', code)
    end
  end
  return answer
end

local SUMMARIES, PLACES = 'public:summaries', 'public:places'

-- A table's place in the list: by connected people, then by when it was first listed.
local PEOPLE = 10000000000000

-- The codes of the listed tables that were opened from an address.
local function places_of(key, opener)
  local codes = {}
  for code in string.gmatch(redis.call('HGET', PLACES, opener) or '', '%S+') do
    if redis.call('ZSCORE', key, code) then
      codes[#codes + 1] = code
    end
  end
  return codes
end

local function set_places(opener, codes)
  if #codes == 0 then
    redis.call('HDEL', PLACES, opener)
  else
    redis.call('HSET', PLACES, opener, table.concat(codes, ' '))
  end
end

local function unlist(key, code)
  local opener = string.match(redis.call('HGET', SUMMARIES, code) or '', '^%d+ (%x+) ')
  redis.call('ZREM', key, code)
  redis.call('HDEL', SUMMARIES, code)
  if opener then
    set_places(opener, places_of(key, opener))
  end
end

-- Return a listed table's summary; nil, after removing it from the list, if it was not renewed.
local function live_summary(key, code, oldest)
  local stored = redis.call('HGET', SUMMARIES, code)
  if stored then
    local at, summary = string.match(stored, '^(%d+) %x* (.*)$')
    if at and tonumber(at) > oldest then
      return summary
    end
  end
  unlist(key, code)
  return nil
end

-- Give a table one of its address's places; one with fewer people gives way. Return whether there is one.
local function take_place(key, code, opener, people, limit, oldest)
  for _, other in ipairs(places_of(key, opener)) do
    live_summary(key, other, oldest)
  end
  local codes = places_of(key, opener)
  if #codes >= limit then
    local last, lowest = nil, people * PEOPLE
    for _, other in ipairs(codes) do
      local score = tonumber(redis.call('ZSCORE', key, other))
      if score < lowest then
        last, lowest = other, score
      end
    end
    if not last then
      return false
    end
    unlist(key, last)
    codes = places_of(key, opener)
  end
  codes[#codes + 1] = code
  set_places(opener, codes)
  return true
end

-- keys: the listing. args: code, summary ('' removes it), hash of the opener's address, people, places, kept ms.
-- Answers 0 if the address has no place left.
local function set_public(keys, args)
  local key, code, summary, opener, people = keys[1], args[1], args[2], args[3], tonumber(args[4])
  if summary == '' then
    unlist(key, code)
    return 1
  end
  local now, first = now_ms(), tonumber(redis.call('ZSCORE', key, code) or 0) % PEOPLE
  if first == 0 then
    local oldest = now - tonumber(args[6])
    if opener ~= '' and not take_place(key, code, opener, people, tonumber(args[5]), oldest) then
      return 0
    end
    first = now
  end
  redis.call('ZADD', key, string.format('%.0f', people * PEOPLE + first), code)
  redis.call('HSET', SUMMARIES, code, now .. ' ' .. opener .. ' ' .. summary)
  return 1
end

-- keys: the listing. args: kept ms, limit. Answers the summaries, most connected people first, then newest first.
local function list_public(keys, args)
  local oldest, limit, answer = now_ms() - tonumber(args[1]), tonumber(args[2]), {}
  -- summaries that were not renewed are found here, however many newer ones are listed
  for _, code in ipairs(redis.call('ZRANGE', keys[1], 0, limit - 1)) do
    live_summary(keys[1], code, oldest)
  end
  repeat
    -- the dropped ones are gone from the list: skip only those that were answered
    local more = redis.call('ZREVRANGE', keys[1], #answer, limit - 1)
    for _, code in ipairs(more) do
      answer[#answer + 1] = live_summary(keys[1], code, oldest)
    end
  until #more == 0 or #answer >= limit
  return answer
end

offer_write('save_table', save_table)
offer_write('due_tables', due_tables)
offer_write('set_public', set_public)
offer_write('list_public', list_public)
