#!lua name=saratoga_@VERSION@
-- The server's atomic writes. Arguments are one MessagePack value: numbers below 2^53, no nil inside
-- a list, strings as raw bytes. Keys that are not passed are built from a passed key, so they share its
-- hash tag. Every function may be called twice with the same argument, and takes effect once.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Fail unless all of the keys, which share a hash tag, are on this primary. While a slot is being moved to
-- another primary, some keys are there already; then a write must not begin.
local function reach(keys)
  redis.call('EXISTS', unpack(keys))
end

local function is_elsewhere(fault)
  local text = type(fault) == 'table' and fault.err or tostring(fault)
  return string.find(text, 'non local key', 1, true) ~= nil
end

-- Run a command for a query over many partitions; nil if this partition is being moved to another primary.
-- Any other error is raised.
local function call_if_here(...)
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then
    if is_elsewhere(reply) then
      return nil
    end
    error(reply)
  end
  return reply
end

-- Return the players of a race; none if the list is damaged: then the boards are read one by one.
local function racers_of(packed)
  local is_whole, players = pcall(cmsgpack.unpack, packed)
  return is_whole and type(players) == 'table' and players or {}
end

-- Call `act` with every key of a race.
local function each_key_of_race(key, act)
  local racers = redis.call('HGET', key, 'racers')
  act(key)
  if racers then
    for _, player in ipairs(racers_of(racers)) do
      act(key .. ':log:' .. player)
    end
  end
end

local function offer_write(name, callback)
  redis.register_function{function_name = name .. '_@VERSION@', callback = callback}
end

local function offer_read(name, callback)
  redis.register_function{
    function_name = name .. '_@VERSION@', callback = callback, flags = {'no-writes'},
  }
end

-- A query over many partitions: the keys of one primary are passed as arguments of one call.
local function offer_sweep(name, callback, ...)
  redis.register_function{
    function_name = name .. '_@VERSION@', callback = callback, flags = {'allow-cross-slot-keys', ...},
  }
end
