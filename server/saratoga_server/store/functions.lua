#!lua name=saratoga_@VERSION@
-- The house's writes, each of them whole or not at all. Arguments come as one MessagePack value:
-- numbers below 2^53, no nil inside a list, strings as raw bytes. Keys that are not passed are made
-- by adding to one that is, so they share its hash tag. Every function may run twice with the same
-- argument and has then done it once.

local DONE, REPEAT, STALE, FENCED, TIME_UP, BOARD_OVER, NO_BOARD = 0, 1, 2, 3, 4, 5, 6

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Boards ------------------------------------------------------------------------------------------

-- A race as far as this batch knows it: what all its boards share, and the boards it has met.
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

-- When, and from which number on, these very entries were appended at that place; nil: they were not.
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
  local tag, code = string.match(race.key, '^({[^}]*}):table:(.*):race:%d+$')
  redis.call('ZADD', tag .. ':due', 'LT', now, code)
end

local function change(race, field, value)
  local changes = race.changes
  local n = #changes
  changes[n + 1], changes[n + 2] = field, value
end

local function append(race, board, commit, now)
  local player, id, banked, state, rises, entries =
    commit[2], commit[4], commit[6], commit[7], commit[8], commit[10]
  -- a clock set back must not turn a race's log around
  local at = now > race.at and now or race.at
  local first, since, lines = race.commits + 1, at - race.start, {}
  for i = 1, #entries do
    lines[i] = since .. ' ' .. (race.commits + i) .. ' ' .. id .. ' ' .. entries[i]
  end
  board.length = redis.call('RPUSH', race.key .. ':log:' .. player, unpack(lines))
  race.commits, race.at = race.commits + #entries, at
  if id > board.last_id then
    board.last_id = id
    change(race, player .. ':last_id', id)
  end
  change(race, player .. ':length', board.length)
  change(race, player .. ':banked', banked)
  if rises then
    -- an ending other than a win is an entry of its own, behind the move that raised the count
    local rose = race.commits
    if state ~= 'racing' and state ~= 'won' and #entries > 1 then
      rose = rose - 1
    end
    change(race, player .. ':rose:' .. banked, since .. ' ' .. rose)
  end
  if state ~= 'racing' then
    board.state = state
    change(race, player .. ':state', state)
    race.open = race.open - 1
    if race.open == 0 then
      mark_due(race, now)
    end
  end
  return DONE, board.length, at, first
end

local function commit_board(race, commit, again, now)
  local board = meet_board(race, commit[2])
  if not board or race.start > now then
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
  if race.deadline > 0 and now >= race.deadline and not commit[9] then
    return TIME_UP, board.length, 0, 0
  end
  if board.length ~= after then
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

-- keys: races. argument: {again, commits}, a commit {race's place in keys, player, epoch, command id,
-- after, banked, state, rises, late, entries}. Answers four numbers each: status, length, at, number.
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

-- keys: the race. args: the player. Answers epoch, last id, banked, state, start, entries ...
local function load_board(keys, args)
  local player = args[1]
  local fields = redis.call('HMGET', keys[1], player .. ':epoch', player .. ':last_id',
    player .. ':banked', player .. ':state', 'start')
  if not fields[1] then
    return {}
  end
  local entries = redis.call('LRANGE', keys[1] .. ':log:' .. player, 0, -1)
  for i = 1, #entries do
    fields[5 + i] = entries[i]
  end
  return fields
end

-- keys: the race. Answers the start, then player, banked, state, when the count was reached or '' ...
local function load_standings(keys)
  local race = redis.call('HMGET', keys[1], 'start', 'racers')
  if not race[1] then
    return {}
  end
  local answer = {race[1]}
  for _, player in ipairs(cmsgpack.unpack(race[2])) do
    local fields = redis.call('HMGET', keys[1], player .. ':banked', player .. ':state')
    local n = #answer
    answer[n + 1], answer[n + 2], answer[n + 3] = player, fields[1], fields[2]
    answer[n + 4] = redis.call('HGET', keys[1], player .. ':rose:' .. fields[1]) or ''
  end
  return answer
end

-- Tables ------------------------------------------------------------------------------------------

local function each_key_of_race(key, act)
  local racers = redis.call('HGET', key, 'racers')
  act(key)
  if racers then
    for _, player in ipairs(cmsgpack.unpack(racers)) do
      act(key .. ':log:' .. player)
    end
  end
end

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

local function finish_race(table_key, tag, finish, gone)
  local race, record, settlement = unpack(finish)
  redis.call('HSET', table_key .. ':records', race, record)
  if settlement ~= '' then
    redis.call('RPUSH', tag .. ':outbox', settlement)
  end
  redis.call('HDEL', table_key, 'race')
  local key = table_key .. ':race:' .. race
  if redis.call('EXISTS', key) == 1 then
    redis.call('HSET', key, 'over', 1)
  end
  each_key_of_race(key, function(each)
    redis.call('PEXPIREAT', each, gone)
  end)
end

-- keys: the table. argument: {expected version, body, writer, due or -1, race, its players, their
-- epochs, opening or {}, finish or {}, kept ms, finished logs kept ms}. Answers 1; 0 if the version differs.
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
  local tag, code = string.match(key, '^({[^}]*}):table:(.*)$')
  redis.call('HSET', key, 'version', version + 1, 'body', body, 'writer', writer)
  if due < 0 then
    redis.call('ZREM', tag .. ':due', code)
  else
    redis.call('ZADD', tag .. ':due', due, code)
  end
  raise_epochs(key .. ':race:' .. race, players, epochs)
  if #opening > 0 then
    open_boards(key, opening)
  end
  if #finish > 0 then
    finish_race(key, tag, finish, now + logs_kept)
  end
  local function keep(each)
    redis.call('PEXPIREAT', each, now + kept)
  end
  keep(key)
  keep(key .. ':records')
  local running = redis.call('HGET', key, 'race')
  if running then
    each_key_of_race(key .. ':race:' .. running, keep)
  end
  return 1
end

-- keys: due sets. args: until, limit. Answers codes, the longest overdue first.
local function due_tables(keys, args)
  local limit, found_due = tonumber(args[2]), {}
  for _, key in ipairs(keys) do
    local members = redis.call('ZRANGEBYSCORE', key, '-inf', args[1], 'WITHSCORES', 'LIMIT', 0, limit)
    local tag = string.sub(key, 1, -5)
    for i = 1, #members, 2 do
      if redis.call('EXISTS', tag .. ':table:' .. members[i]) == 1 then
        found_due[#found_due + 1] = {members[i], tonumber(members[i + 1])}
      else
        redis.call('ZREM', key, members[i])
      end
    end
  end
  table.sort(found_due, function(one, other)
    return one[2] < other[2]
  end)
  local codes = {}
  for i = 1, math.min(limit, #found_due) do
    codes[i] = found_due[i][1]
  end
  return codes
end

-- keys: the listing. args: code, summary ('' takes it off).
local function set_public(keys, args)
  local summaries = '{public}:summaries'
  if args[2] == '' then
    redis.call('ZREM', keys[1], args[1])
    redis.call('HDEL', summaries, args[1])
  else
    local now = now_ms()
    redis.call('ZADD', keys[1], 'NX', now, args[1])
    redis.call('HSET', summaries, args[1], now .. ' ' .. args[2])
  end
  return 1
end

-- keys: the listing. args: kept ms. Answers the summaries, newest first.
local function list_public(keys, args)
  local oldest, summaries, answer = now_ms() - tonumber(args[1]), '{public}:summaries', {}
  for _, code in ipairs(redis.call('ZREVRANGE', keys[1], 0, -1)) do
    local stored = redis.call('HGET', summaries, code)
    local at, summary
    if stored then
      at, summary = string.match(stored, '^(%d+) (.*)$')
    end
    if at and tonumber(at) > oldest then
      answer[#answer + 1] = summary
    else
      redis.call('ZREM', keys[1], code)
      redis.call('HDEL', summaries, code)
    end
  end
  return answer
end

-- Players -----------------------------------------------------------------------------------------

local function keep_guest(key, kept)
  if redis.call('HEXISTS', key, 'skeleton') == 0 then
    redis.call('PEXPIRE', key, kept)
  end
end

-- keys: the player. argument: {kept ms, field, value ...}. Answers whether it was made now.
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

-- keys: the player, the new name, the name held so far. args: player, name, skeleton, the skeleton
-- held so far or ''. Answers 1; 0 if somebody else has it, or nobody is there; -1 if another name is held by now.
local function claim_name(keys, args)
  local player, name, skeleton, old = args[1], args[2], args[3], args[4]
  local holder = redis.call('GET', keys[2])
  if (holder and holder ~= player) or redis.call('HEXISTS', keys[1], 'token_hash') == 0 then
    return 0
  end
  local held = redis.call('HGET', keys[1], 'skeleton') or ''
  if held ~= old and held ~= skeleton then
    return -1
  end
  redis.call('SET', keys[2], player)
  redis.call('HSET', keys[1], 'name', name, 'skeleton', skeleton)
  redis.call('PERSIST', keys[1])
  if old ~= '' and old ~= skeleton and redis.call('GET', keys[3]) == player then
    redis.call('DEL', keys[3])
  end
  return 1
end

-- keys: the player. args: kept ms, field, value. Nothing for a player who is not there.
local function set_player(keys, args)
  if redis.call('HEXISTS', keys[1], 'token_hash') == 1 then
    redis.call('HSET', keys[1], args[2], args[3])
    keep_guest(keys[1], args[1])
  end
  return 1
end

-- keys: the player. args: kept ms, command id, code. Answers the code that belongs to the command.
local function reserve_code(keys, args)
  redis.call('HSETNX', keys[1], 'code:' .. args[2], args[3])
  if tonumber(redis.call('HGET', keys[1], 'last_id') or 0) < tonumber(args[2]) then
    redis.call('HSET', keys[1], 'last_id', args[2])
  end
  keep_guest(keys[1], args[1])
  return redis.call('HGET', keys[1], 'code:' .. args[2])
end

-- keys: the player, the name held. args: player, the name's skeleton or ''. Answers 1; -1 if
-- another name is held by now.
local function forget_player(keys, args)
  if (redis.call('HGET', keys[1], 'skeleton') or '') ~= args[2] and redis.call('EXISTS', keys[1]) == 1 then
    return -1
  end
  if args[2] ~= '' and redis.call('GET', keys[2]) == args[1] then
    redis.call('DEL', keys[2])
  end
  redis.call('DEL', keys[1])
  return 1
end

-- Leaderboards ------------------------------------------------------------------------------------

-- One number ranks a result, so that a best can never mix two races. Bits from the top:
-- best:     7 banked, 21 time left of 2^21 - 1 ms (slower counts as that), 25 results yet to come
-- bankroll: 28 sum of nets + 2^27, 25 results yet to come when that sum was reached
local SEQUENCES, TIMES, SUMS = 2 ^ 25, 2 ^ 21, 2 ^ 27

local function best_score(banked, elapsed, sequence)
  local left = TIMES - 1 - math.min(elapsed, TIMES - 1)
  return (banked * TIMES + left) * SEQUENCES + SEQUENCES - 1 - math.min(sequence, SEQUENCES - 1)
end

local function bankroll_score(sum, sequence)
  local lifted = math.max(0, math.min(2 * SUMS - 1, sum + SUMS))
  return lifted * SEQUENCES + SEQUENCES - 1 - math.min(sequence, SEQUENCES - 1)
end

local function ranking(tag, name, period, bot)
  return tag .. ':' .. name .. ':' .. period .. ':' .. (bot and 'bots' or 'people')
end

local function put_row(key, player, score, row, gone)
  redis.call('ZADD', key, string.format('%.0f', score), player)
  redis.call('HSET', key .. ':rows', player, cmsgpack.pack(row))
  if gone > 0 then
    redis.call('PEXPIREAT', key, gone)
    redis.call('PEXPIREAT', key .. ':rows', gone)
  end
end

local function drop_row(key, player)
  redis.call('ZREM', key, player)
  redis.call('HDEL', key .. ':rows', player)
end

-- A result is {race, bot, banked, net, elapsed, its periods}; a bankroll's row {race, sum, races}.
local function add_to_bankroll(row, result, sequence)
  row = row or {result[1], 0, 0, sequence}
  if result[4] ~= 0 then
    row[1], row[4] = result[1], sequence
  end
  row[2], row[3] = row[2] + result[4], row[3] + 1
  return row
end

local function count_in(tag, player, result, sequence, period, gone)
  local best = ranking(tag, 'best', period, result[2])
  local score, held = best_score(result[3], result[5], sequence), redis.call('ZSCORE', best, player)
  if not held or tonumber(held) < score then
    put_row(best, player, score, {result[1], result[3], result[4], result[5]}, gone)
  end
  local bankroll = ranking(tag, 'bankroll', period, result[2])
  local stored = redis.call('HGET', bankroll .. ':rows', player)
  local row = add_to_bankroll(stored and cmsgpack.unpack(stored), result, sequence)
  put_row(bankroll, player, bankroll_score(row[2], row[4]), row, gone)
end

local function history(tag, player)
  local flat, results = redis.call('HGETALL', tag .. ':results:' .. player), {}
  for i = 1, #flat, 2 do
    results[#results + 1] = {tonumber(flat[i]), cmsgpack.unpack(flat[i + 1])}
  end
  table.sort(results, function(one, other)
    return one[1] < other[1]
  end)
  return results
end

local function recount(tag, player, results, place, period, bot, gone)
  local best, best_row, bankroll
  for _, each in ipairs(results) do
    local sequence, result = each[1], each[2]
    if result[2] == bot and result[6][place] == period then
      local score = best_score(result[3], result[5], sequence)
      if not best or score > best then
        best, best_row = score, {result[1], result[3], result[4], result[5]}
      end
      bankroll = add_to_bankroll(bankroll, result, sequence)
    end
  end
  local best_key, bankroll_key = ranking(tag, 'best', period, bot), ranking(tag, 'bankroll', period, bot)
  if best then
    put_row(best_key, player, best, best_row, gone)
    put_row(bankroll_key, player, bankroll_score(bankroll[2], bankroll[4]), bankroll, gone)
  else
    drop_row(best_key, player)
    drop_row(bankroll_key, player)
  end
end

-- keys: the race's mark. argument: {tag, race, results {player, bot, banked, net, elapsed}, periods,
-- when each of them goes or 0, kept ms, writer}. Answers 1; 0 if the race was settled or voided before.
local function settle(keys, args)
  local tag, race, results, periods, gone, kept, writer = unpack(cmsgpack.unpack(args[1]))
  local mark = redis.call('GET', keys[1])
  if mark then
    return cmsgpack.unpack(mark)[5] == writer and 1 or 0
  end
  local first, players = redis.call('INCRBY', tag .. ':sequence', #results) - #results, {}
  for i = 1, #results do
    local player, bot, banked, net, elapsed = unpack(results[i])
    local result = {race, bot, banked, net, elapsed, periods}
    players[i] = {player, bot}
    redis.call('HSET', tag .. ':results:' .. player, first + i, cmsgpack.pack(result))
    for place = 1, #periods do
      count_in(tag, player, result, first + i, periods[place], gone[place])
    end
  end
  redis.call('SET', keys[1], cmsgpack.pack({first, players, periods, gone, writer}), 'PX', kept)
  return 1
end

-- keys: the race's mark. args: tag. Answers 1; 0 if the race was never settled.
local function void_race(keys, args)
  local mark = redis.call('GET', keys[1])
  if not mark then
    return 0
  end
  local tag = args[1]
  local first, players, periods, gone = unpack(cmsgpack.unpack(mark))
  for i = 1, #players do
    local player, bot = players[i][1], players[i][2]
    if redis.call('HDEL', tag .. ':results:' .. player, first + i) == 1 then
      local results = history(tag, player)
      for place = 1, #periods do
        recount(tag, player, results, place, periods[place], bot, gone[place])
      end
    end
  end
  return 1
end

-- keys: the player's results. args: tag, player.
local function forget_results(keys, args)
  local tag, player = args[1], args[2]
  for _, each in ipairs(history(tag, player)) do
    local result = each[2]
    for _, period in ipairs(result[6]) do
      drop_row(ranking(tag, 'best', period, result[2]), player)
      drop_row(ranking(tag, 'bankroll', period, result[2]), player)
    end
  end
  redis.call('DEL', keys[1])
  return 1
end

-- A row as answered: player, its row, the row of the bankroll (which counts the races).
local function add_row(answer, key, bankroll, player)
  local n = #answer
  answer[n + 1], answer[n + 2] = player, redis.call('HGET', key .. ':rows', player) or ''
  answer[n + 3] = redis.call('HGET', bankroll .. ':rows', player) or ''
end

-- keys: a ranking, the bankroll of the same period. args: offset, limit. Answers how many, rows ...
local function load_page(keys, args)
  local answer, from = {redis.call('ZCARD', keys[1])}, tonumber(args[1])
  for _, player in ipairs(redis.call('ZREVRANGE', keys[1], from, from + tonumber(args[2]) - 1)) do
    add_row(answer, keys[1], keys[2], player)
  end
  return answer
end

-- keys: a ranking, the bankroll of the same period. args: the player. Answers the rank from 0, row.
local function load_row(keys, args)
  local rank = redis.call('ZREVRANK', keys[1], args[1])
  if not rank then
    return {}
  end
  local answer = {rank}
  add_row(answer, keys[1], keys[2], args[1])
  return answer
end

-- keys: outboxes. args: limit. Answers the place of the outbox in keys and the settlement ...
local function peek_outbox(keys, args)
  local limit, answer = tonumber(args[1]), {}
  for place, key in ipairs(keys) do
    local left = limit - #answer / 2
    if left <= 0 then
      break
    end
    for _, settlement in ipairs(redis.call('LRANGE', key, 0, left - 1)) do
      local n = #answer
      answer[n + 1], answer[n + 2] = place, settlement
    end
  end
  return answer
end

-- keys: the outbox. args: the settlement.
local function drop_settled(keys, args)
  redis.call('LREM', keys[1], 1, args[1])
  return 1
end

-- Audit -------------------------------------------------------------------------------------------

-- keys: the audit log. args: the act, how many are kept.
local function append_act(keys, args)
  local newest = redis.call('ZREVRANGE', keys[1], 0, 0, 'WITHSCORES')
  redis.call('ZADD', keys[1], 'NX', tonumber(newest[2] or 0) + 1, args[1])
  redis.call('ZREMRANGEBYRANK', keys[1], 0, -tonumber(args[2]) - 1)
  return 1
end

-- While a library is loaded there is no pairs, no ipairs.
local WRITES = {
  {'commit_boards', commit_boards},
  {'save_table', save_table},
  {'due_tables', due_tables},
  {'set_public', set_public},
  {'list_public', list_public},
  {'create_player', create_player},
  {'claim_name', claim_name},
  {'set_player', set_player},
  {'reserve_code', reserve_code},
  {'forget_player', forget_player},
  {'settle', settle},
  {'drop_settled', drop_settled},
  {'void_race', void_race},
  {'forget_results', forget_results},
  {'append_act', append_act},
}

local READS = {
  {'load_board', load_board},
  {'load_standings', load_standings},
  {'load_page', load_page},
  {'load_row', load_row},
  {'peek_outbox', peek_outbox},
}

for i = 1, #WRITES do
  redis.register_function{function_name = WRITES[i][1] .. '_@VERSION@', callback = WRITES[i][2]}
end
for i = 1, #READS do
  redis.register_function{
    function_name = READS[i][1] .. '_@VERSION@', callback = READS[i][2], flags = {'no-writes'},
  }
end
