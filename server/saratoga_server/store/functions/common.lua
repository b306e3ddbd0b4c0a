#!lua name=saratoga_@VERSION@
-- The server's writes, each of them whole or not at all. Arguments come as one MessagePack value:
-- numbers below 2^53, no nil inside a list, strings as raw bytes. Keys that are not passed are made
-- by adding to one that is, so they share its hash tag. Every function may run twice with the same
-- argument and has then done it once.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Fails unless all of the keys, of one hash tag, can be reached. Of a slot that is on its way to
-- another primary of a cluster some are there already; then a write must not even begin.
local function reach(keys)
  redis.call('EXISTS', unpack(keys))
end

local function is_elsewhere(fault)
  local text = type(fault) == 'table' and fault.err or tostring(fault)
  return string.find(text, 'non local key', 1, true) ~= nil
end

-- A command for a look over many partitions; nil if this one is on its way to another primary of a
-- cluster: it is asked there, later. Any other fault is one.
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

local function offer_write(name, callback)
  redis.register_function{function_name = name .. '_@VERSION@', callback = callback}
end

local function offer_read(name, callback)
  redis.register_function{
    function_name = name .. '_@VERSION@', callback = callback, flags = {'no-writes'},
  }
end

-- A look over many partitions: their keys come as arguments, those of one primary in one call.
local function offer_sweep(name, callback)
  redis.register_function{
    function_name = name .. '_@VERSION@', callback = callback, flags = {'allow-cross-slot-keys'},
  }
end
