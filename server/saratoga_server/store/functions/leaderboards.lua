-- Rankings: updated by every settled race, and recomputed if a race is voided.

-- One number ranks a result, so that a best result never mixes two races. Bits from the top:
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

-- A player's rivals: the people among the other racers of the races counted, each once. Their ids stand
-- between blanks in `:rivals` beside a bankroll, until there are as many as are counted.
local MOST_RIVALS = 100

local function add_rivals(met, number, people, player)
  for _, other in ipairs(people) do
    if number < MOST_RIVALS and other ~= player and not string.find(met, ' ' .. other .. ' ', 1, true) then
      met, number = met .. other .. ' ', number + 1
    end
  end
  return met, number
end

local function put_rivals(key, player, met, number)
  if number > 0 and number < MOST_RIVALS then
    redis.call('HSET', key .. ':rivals', player, met)
  else
    redis.call('HDEL', key .. ':rivals', player)
  end
end

local function put_row(key, player, score, row, gone)
  redis.call('ZADD', key, string.format('%.0f', score), player)
  redis.call('HSET', key .. ':rows', player, cmsgpack.pack(row))
  if gone > 0 then
    redis.call('ZADD', 'expiring', gone, key)
  end
end

local function drop_row(key, player)
  redis.call('ZREM', key, player)
  redis.call('HDEL', key .. ':rows', player)
  redis.call('HDEL', key .. ':rivals', player)
end

-- A result is {race, bot, banked, net, elapsed, its periods, the people among the racers}; a bankroll's row
-- {race, sum, races, sequence when that sum was reached, rivals}.
local function add_to_bankroll(row, result, sequence)
  row = row or {result[1], 0, 0, sequence, 0}
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
  if row[5] < MOST_RIVALS then
    local met = redis.call('HGET', bankroll .. ':rivals', player) or ' '
    met, row[5] = add_rivals(met, row[5], result[7], player)
    put_rivals(bankroll, player, met, row[5])
  end
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
  local met = ' '
  for _, each in ipairs(results) do
    local sequence, result = each[1], each[2]
    if result[2] == bot and result[6][place] == period then
      local score = best_score(result[3], result[5], sequence)
      if not best or score > best then
        best, best_row = score, {result[1], result[3], result[4], result[5]}
      end
      bankroll = add_to_bankroll(bankroll, result, sequence)
      met, bankroll[5] = add_rivals(met, bankroll[5], result[7], player)
    end
  end
  local best_key, bankroll_key = ranking(tag, 'best', period, bot), ranking(tag, 'bankroll', period, bot)
  if best then
    put_row(best_key, player, best, best_row, gone)
    put_row(bankroll_key, player, bankroll_score(bankroll[2], bankroll[4]), bankroll, gone)
    put_rivals(bankroll_key, player, met, bankroll[5])
  else
    drop_row(best_key, player)
    drop_row(bankroll_key, player)
  end
end

-- keys: the race's mark. argument: {tag, race, results {player, bot, banked, net, elapsed}, periods,
-- the expiry of each or 0, kept ms, writer, start of the race, people among the racers}. Answers 1; 0 if the race was settled or
-- voided before. The mark of a race with another start belongs to a deleted table of the same code.
local function settle(keys, args)
  local tag, race, results, periods, gone, kept, writer, start, people = unpack(cmsgpack.unpack(args[1]))
  local stored = redis.call('GET', keys[1])
  local mark = stored and cmsgpack.unpack(stored)
  if mark and mark[6] == start then
    return mark[5] == writer and 1 or 0
  end
  local first, players = redis.call('INCRBY', tag .. ':sequence', #results) - #results, {}
  for i = 1, #results do
    local player, bot, banked, net, elapsed = unpack(results[i])
    local result = {race, bot, banked, net, elapsed, periods, people}
    players[i] = {player, bot}
    redis.call('HSET', tag .. ':results:' .. player, first + i, cmsgpack.pack(result))
    for place = 1, #periods do
      count_in(tag, player, result, first + i, periods[place], gone[place])
    end
  end
  redis.call('SET', keys[1], cmsgpack.pack({first, players, periods, gone, writer, start}))
  redis.call('ZADD', 'expiring', now_ms() + kept, keys[1])
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
    redis.call('HDEL', tag .. ':results:' .. player, first + i)
    local results = history(tag, player)
    for place = 1, #periods do
      recount(tag, player, results, place, periods[place], bot, gone[place])
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

-- keys: a ranking, the bankroll of the same period. args: offset, limit. Answers the total, rows ...
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

offer_write('settle', settle)
offer_write('void_race', void_race)
offer_write('forget_results', forget_results)
offer_read('load_page', load_page)
offer_read('load_row', load_row)
