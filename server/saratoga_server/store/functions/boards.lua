-- The boards of races: append to many logs at once, and read one.

-- Milliseconds by which a node's clock may be ahead; a node that is further ahead tries again.
local EARLY = 100

-- Milliseconds that the host waits after all other boards have ended, before ending the last one.
local LAST_BOARD = 60000

-- Milliseconds without a sign of activity after which a board ends as idle.
local IDLE = 180000

local DONE, REPEAT, STALE, FENCED, TIME_UP, BOARD_OVER, NO_BOARD = 0, 1, 2, 3, 4, 5, 6

-- A race in this batch: the fields that all its boards share, and the boards read so far.
local function meet_race(key, player)
  local fields = redis.call('HMGET', key, 'start', 'deadline', 'commits', 'at', 'open', 'over',
    player .. ':epoch', player .. ':last_id', player .. ':length', player .. ':state')
  local race = {key = key, boards = {}, changes = {}}
  if not fields[1] then
    race.missing = true
    return race
  end
  race.start, race.deadline = tonumber(fields[1]), tonumber(fields[2])
  race.commits, race.at, race.open = tonumber(fields[3]), tonumber(fields[4]), tonumber(fields[5])
  race.over = fields[6] and true or false
  if fields[7] then
    race.boards[player] = {
      epoch = tonumber(fields[7]), last_id = tonumber(fields[8]), length = tonumber(fields[9]),
      state = fields[10],
    }
  end
  return race
end

local function meet_board(race, player)
  local board = race.boards[player]
  if not board and not race.missing then
    local fields = redis.call('HMGET', race.key, player .. ':epoch', player .. ':last_id',
      player .. ':length', player .. ':state')
    if fields[1] then
      board = {
        epoch = tonumber(fields[1]), last_id = tonumber(fields[2]), length = tonumber(fields[3]),
        state = fields[4],
      }
      race.boards[player] = board
    end
  end
  return board
end

-- Return the time and the first number of these entries if they were appended there before; else nil.
local function found(race, commit)
  local player, id, after, entries = commit[2], commit[4], commit[5], commit[10]
  local stored = redis.call('LRANGE', race.key .. ':log:' .. player, after, after + #entries - 1)
  if #stored ~= #entries then
    return nil
  end
  local at, number
  for i = 1, #entries do
    local since, count, by, text = string.match(stored[i], '^(%d+) (%d+) (%d+) (.*)$')
    if text ~= entries[i] or tonumber(by) ~= id then
      return nil
    end
    at, number = race.start + tonumber(since), number or tonumber(count)
  end
  return at, number
end

local function mark_due(race, now)
  redis.call('ZADD', 'due', 'LT', now, string.match(race.key, '^table:(.*):race:%d+$'))
end

local function change(race, field, value)
  local changes = race.changes
  local n = #changes
  changes[n + 1], changes[n + 2] = field, value
end

local function append(race, board, commit, now)
  local player, id, banked, state, rises, entries, head =
    commit[2], commit[4], commit[6], commit[7], commit[8], commit[10], commit[11]
  -- times in a log never fall, even if a clock was set back or is ahead
  local at = now > race.at and now or race.at
  -- out of time is never before the deadline, even if the node's clock is ahead
  if commit[9] and at < race.deadline then
    at = race.deadline
  end
  local first, since, lines = race.commits + 1, at - race.start, {}
  -- Lua writes numbers above 14 digits in scientific notation, and clients choose their ids
  local by = string.format('%.0f', id)
  for i = 1, #entries do
    lines[i] = since .. ' ' .. (race.commits + i) .. ' ' .. by .. ' ' .. entries[i]
  end
  if state ~= 'racing' and race.open == 1 then
    mark_due(race, now)
  end
  board.length = redis.call('RPUSH', race.key .. ':log:' .. player, unpack(lines))
  race.commits, race.at = race.commits + #entries, at
  if id > board.last_id then
    board.last_id = id
    change(race, player .. ':last_id', id)
  end
  change(race, player .. ':length', board.length)
  change(race, player .. ':banked', banked)
  if head ~= '' then
    change(race, player .. ':head', head)
  end
  if rises then
    -- an ending other than a win is a separate entry after the move that raised the count
    local rose = race.commits
    if state ~= 'racing' and state ~= 'won' and #entries > 1 then
      rose = rose - 1
    end
    change(race, player .. ':rose:' .. banked, since .. ' ' .. rose)
  end
  if state ~= 'racing' then
    board.state = state
    change(race, player .. ':state', state)
    race.open, race.ended = race.open - 1, at
    change(race, 'ended', at)
  end
  return DONE, board.length, at, first
end

-- Whether the host may end a board now: the only one left, a minute after the last other ending.
local function may_end(race, now)
  local ended = race.ended or tonumber(redis.call('HGET', race.key, 'ended'))
  return race.open == 1 and ended ~= nil and math.max(now, race.at) - ended >= LAST_BOARD
end

-- Whether a board may end as idle now: its last entry and its player's last sign are three minutes old.
local function is_idle(race, player, now)
  local active = tonumber(redis.call('HGET', race.key, player .. ':active') or '0')
  local last = redis.call('LINDEX', race.key .. ':log:' .. player, -1)
  local entry = race.start + (last and tonumber(string.match(last, '^(%d+) ')) or 0)
  return math.max(now, race.at) - math.max(active, entry) >= IDLE
end

-- Whether the ending of this commit, if it is one that needs time, comes too early.
local function is_too_early(race, commit, now)
  local state = commit[7]
  return state == 'ended-by-host' and not may_end(race, now)
    or state == 'idle' and not is_idle(race, commit[2], now)
end

local function commit_board(race, commit, again, now)
  local board = meet_board(race, commit[2])
  -- boards are created at the start, so a board that exists has been dealt
  if not board then
    return NO_BOARD, 0, 0, 0
  end
  local epoch, id, after = commit[3], commit[4], commit[5]
  if again and board.length > after then
    local at, number = found(race, commit)
    if at then
      return DONE, after + #commit[10], at, number
    end
  end
  if epoch ~= 0 and epoch < board.epoch then
    return FENCED, board.length, 0, 0
  end
  if id ~= 0 then
    if id <= board.last_id then
      return REPEAT, board.length, 0, 0
    end
  elseif board.length > after and found(race, commit) then
    return REPEAT, board.length, 0, 0
  end
  if race.over or board.state ~= 'racing' then
    return BOARD_OVER, board.length, 0, 0
  end
  -- an entry takes the time of the last one if the clock is behind it
  if race.deadline > 0 and math.max(now, race.at) >= race.deadline and not commit[9] then
    return TIME_UP, board.length, 0, 0
  end
  -- the node's clock may be ahead of this one: then the node tries again
  if commit[9] and race.deadline > 0 and now < race.deadline - EARLY then
    return STALE, board.length, 0, 0
  end
  if board.length ~= after or is_too_early(race, commit, now) then
    return STALE, board.length, 0, 0
  end
  return append(race, board, commit, now)
end

local function commit_to(races, keys, commit, again, now)
  local race = races[commit[1]]
  if not race then
    race = meet_race(keys[commit[1]], commit[2])
    races[commit[1]] = race
  end
  return commit_board(race, commit, again, now)
end

-- keys: races. argument: {again, commits}; a commit is {index of the race in keys, player, epoch, command id,
-- after, banked, state, rises, late, entries, head}. Answers four numbers each: status, length, at, number.
local function commit_boards(keys, args)
  local batch = cmsgpack.unpack(args[1])
  local again, commits = batch[1], batch[2]
  local now, races, answer = now_ms(), {}, {}
  for i = 1, #commits do
    local commit = commits[i]
    local whole, status, length, at, number = pcall(commit_to, races, keys, commit, again, now)
    if not whole then
      redis.log(redis.LOG_WARNING, 'saratoga: a move was not committed: ' .. commit[2])
      status, length, at, number = NO_BOARD, 0, 0, 0
    end
    local n = 4 * i
    answer[n - 3], answer[n - 2], answer[n - 1], answer[n] = status, length, at, number
  end
  for _, race in pairs(races) do
    if #race.changes > 0 then
      redis.call('HSET', race.key, 'commits', race.commits, 'at', race.at, 'open', race.open,
        unpack(race.changes))
    end
  end
  return answer
end

-- keys: the race. args: the player, the time of a sign of activity. An older time than the stored one, an
-- unknown board and a race that is over change nothing.
local function note_active(keys, args)
  local player, at = args[1], math.min(tonumber(args[2]), now_ms())
  local fields = redis.call('HMGET', keys[1], player .. ':length', player .. ':active', 'over')
  if fields[1] and not fields[3] and at > tonumber(fields[2] or '0') then
    redis.call('HSET', keys[1], player .. ':active', at)
  end
  return 'OK'
end

-- keys: the race. args: the player. Answers epoch, last id, banked, state, start, length, the time of the last
-- sign of activity or 0, entries ...
local function load_board(keys, args)
  local player = args[1]
  local fields = redis.call('HMGET', keys[1], player .. ':epoch', player .. ':last_id',
    player .. ':banked', player .. ':state', 'start', player .. ':length', player .. ':active')
  if not fields[1] then
    return {}
  end
  fields[7] = fields[7] or 0
  local entries = redis.call('LRANGE', keys[1] .. ':log:' .. player, 0, -1)
  for i = 1, #entries do
    fields[7 + i] = entries[i]
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
offer_write('note_active', note_active)
offer_read('load_board', load_board)
offer_read('load_standings', load_standings)
