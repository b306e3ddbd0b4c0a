-- The boards of races: append to many logs at once, and read one.

-- Milliseconds by which a node's clock may be ahead; a node that is further ahead tries again.
local EARLY = 100

local DONE, STALE, FENCED, TIME_UP, BOARD_OVER, NO_BOARD, DAMAGED = 0, 1, 2, 3, 4, 5, 6

-- A race in this batch: the fields that all its boards share, the boards read so far, and what is to be written.
local function meet_race(key)
  local fields = redis.call('HMGET', key, 'start', 'deadline', 'commits', 'at', 'open', 'over')
  local race = {key = key, boards = {}, changes = {}, missing = not fields[1], over = fields[6]}
  race.start, race.deadline = tonumber(fields[1]), tonumber(fields[2])
  race.commits, race.at, race.open = tonumber(fields[3]), tonumber(fields[4]), tonumber(fields[5])
  race.code, race.number = string.match(key, '^table:(.*):race:(%d+)$')
  return race
end

local function meet_board(race, player)
  local board = race.boards[player]
  if not board and not race.missing then
    local fields = redis.call('HMGET', race.key, player .. ':epoch', player .. ':length', player .. ':state')
    if fields[1] then
      board = {epoch = tonumber(fields[1]), length = tonumber(fields[2]), state = fields[3]}
      race.boards[player] = board
    end
  end
  return board
end

-- Return the time and the first number of these entries if they stand there already; else nil.
local function found(race, commit)
  local _, player, _, after, _, _, _, _, entries = unpack(commit)
  local stored = redis.call('LRANGE', race.key .. ':log:' .. player, after, after + #entries - 1)
  local at, number
  for i = 1, #entries do
    local since, count, text = string.match(stored[i] or '', '^(%d+) (%d+) (.*)$')
    if text ~= entries[i] then
      return nil
    end
    at, number = race.start + tonumber(since), number or tonumber(count)
  end
  return at, number
end

local function change(race, field, value)
  local changes = race.changes
  local n = #changes
  changes[n + 1], changes[n + 2] = field, value
end

-- The standing to publish. The time and number of the last rise are 0 if there was none.
local function standing(race, player, board, commit)
  local banked = commit[5]
  local rose = board.rose or redis.call('HGET', race.key, player .. ':rose:' .. banked) or '0 0'
  local at, number = string.match(rose, '^(%d+) (%d+)$')
  return {
    race = race.code .. '/' .. race.number, player = player, length = board.length, banked = banked,
    state = commit[6], head = commit[10], at = tonumber(at), number = tonumber(number),
  }
end

local function append(race, board, commit, now, news)
  local _, player, _, _, banked, state, rises, late, entries, head = unpack(commit)
  -- times in a log never fall, even if a clock was set back or is ahead
  local at = math.max(now, race.at)
  -- out of time is never before the deadline, even if the node's clock is ahead
  if late then
    at = math.max(at, race.deadline)
  end
  local first, since, lines = race.commits + 1, at - race.start, {}
  for i = 1, #entries do
    lines[i] = since .. ' ' .. (race.commits + i) .. ' ' .. entries[i]
  end
  if state ~= 'racing' and race.open <= 2 then
    -- the last racer must be named, or the race finished: by any node if this one dies
    redis.call('ZADD', 'due', 'LT', now, race.code)
  end
  board.length = redis.call('RPUSH', race.key .. ':log:' .. player, unpack(lines))
  race.commits, race.at = race.commits + #entries, at
  change(race, player .. ':length', board.length)
  change(race, player .. ':banked', banked)
  if rises then
    -- an ending other than a win is a separate entry after the move that raised the count
    local rose = race.commits
    if state ~= 'racing' and state ~= 'won' and #entries > 1 then
      rose = rose - 1
    end
    board.rose = since .. ' ' .. rose
    change(race, player .. ':rose:' .. banked, board.rose)
  end
  if state ~= 'racing' then
    board.state, race.open = state, race.open - 1
    change(race, player .. ':state', state)
  end
  if head ~= '' then
    change(race, player .. ':head', head)
    news[#news + 1] = standing(race, player, board, commit)
  end
  return DONE, board.length, at, first
end

-- The order of the checks is that of the statuses.
local function commit_board(race, commit, now, news)
  local _, player, epoch, after, _, _, _, late = unpack(commit)
  local board = meet_board(race, player)
  -- boards are created at the start, so a board that exists has been dealt
  if not board then
    return NO_BOARD, 0, 0, 0
  end
  if board.length > after then
    local at, number = found(race, commit)
    if at then
      return DONE, after + #commit[9], at, number
    end
  end
  if epoch ~= 0 and epoch < board.epoch then
    return FENCED, board.length, 0, 0
  end
  if race.over or board.state ~= 'racing' then
    return BOARD_OVER, board.length, 0, 0
  end
  -- an entry takes the time of the last one if the clock is behind it
  if race.deadline > 0 and math.max(now, race.at) >= race.deadline and not late then
    return TIME_UP, board.length, 0, 0
  end
  -- the node's clock may be ahead of this one: then the node tries again
  local is_early = late and race.deadline > 0 and now < race.deadline - EARLY
  if is_early or board.length ~= after then
    return STALE, board.length, 0, 0
  end
  return append(race, board, commit, now, news)
end

-- keys: races. argument: the commits, each {index of the race in keys, player, epoch, after, banked, state, rises,
-- late, entries, head}. Answers five numbers each: status, length, at, number, boards of the race that still race.
local function commit_boards(keys, args)
  local now, races, news, answer = now_ms(), {}, {}, {}
  for _, commit in ipairs(cmsgpack.unpack(args[1])) do
    local whole, status, length, at, number = pcall(function()
      local race = races[commit[1]] or meet_race(keys[commit[1]])
      races[commit[1]] = race
      return commit_board(race, commit, now, news)
    end)
    if not whole then
      redis.log(redis.LOG_WARNING, 'saratoga: a move was not committed: ' .. tostring(status))
      status, length, at, number = DAMAGED, 0, 0, 0
    end
    local n, race = #answer, races[commit[1]]
    answer[n + 1], answer[n + 2], answer[n + 3], answer[n + 4] = status, length, at, number
    answer[n + 5] = status == DONE and race.open or 0
  end
  for _, race in pairs(races) do
    if #race.changes > 0 then
      redis.call('HSET', race.key, 'commits', race.commits, 'at', race.at, 'open', race.open,
        unpack(race.changes))
    end
  end
  if #news > 0 then
    redis.call('PUBLISH', 'news', cmsgpack.pack({kind = 'stood', rows = news}))
  end
  return answer
end

-- keys: the race. args: the player. Answers epoch, banked, state, start, length, entries ...
local function load_board(keys, args)
  local player = args[1]
  local fields = redis.call('HMGET', keys[1], player .. ':epoch', player .. ':banked', player .. ':state',
    'start', player .. ':length')
  if not fields[1] then
    return {}
  end
  for _, entry in ipairs(redis.call('LRANGE', keys[1] .. ':log:' .. player, 0, -1)) do
    fields[#fields + 1] = entry
  end
  return fields
end

-- keys: the race. Answers the start, then player, banked, state, when the count was reached or '', length,
-- head or '' ...
local function load_standings(keys)
  local race = redis.call('HMGET', keys[1], 'start', 'racers')
  if not race[1] then
    return {}
  end
  local answer = {race[1]}
  for _, player in ipairs(racers_of(race[2])) do
    local fields = redis.call('HMGET', keys[1], player .. ':banked', player .. ':state',
      player .. ':length', player .. ':head')
    local n = #answer
    answer[n + 1], answer[n + 2], answer[n + 3] = player, fields[1], fields[2]
    answer[n + 4] = fields[1] and redis.call('HGET', keys[1], player .. ':rose:' .. fields[1]) or ''
    answer[n + 5], answer[n + 6] = fields[3], fields[4] or ''
  end
  return answer
end

offer_write('commit_boards', commit_boards)
offer_read('load_board', load_board)
offer_read('load_standings', load_standings)
