#!lua name=saratoga_@VERSION@
-- The server's atomic writes. Arguments are one MessagePack value: numbers below 2^53, no nil inside
-- a list, strings as raw bytes. Every function may be called twice with the same argument, and takes effect once.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Return the players of a race; none if the list is damaged: then the boards are read one by one.
local function racers_of(packed)
  local is_whole, players = pcall(cmsgpack.unpack, packed)
  return is_whole and type(players) == 'table' and players or {}
end

local function offer_write(name, callback, ...)
  redis.register_function{
    function_name = name .. '_@VERSION@', callback = callback, flags = {...},
  }
end

local function offer_read(name, callback)
  redis.register_function{
    function_name = name .. '_@VERSION@', callback = callback, flags = {'no-writes'},
  }
end
