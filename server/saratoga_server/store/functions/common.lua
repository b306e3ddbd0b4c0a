#!lua name=saratoga_@VERSION@
-- The house's writes, each of them whole or not at all. Arguments come as one MessagePack value:
-- numbers below 2^53, no nil inside a list, strings as raw bytes. Keys that are not passed are made
-- by adding to one that is, so they share its hash tag. Every function may run twice with the same
-- argument and has then done it once.

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The keys that exist: most partitions are empty, so a look at many of them at once says enough.
local function existing(keys)
  local step, answer = 16, {}
  for first = 1, #keys, step do
    local last = math.min(first + step - 1, #keys)
    if redis.call('EXISTS', unpack(keys, first, last)) > 0 then
      for place = first, last do
        answer[#answer + 1] = place
      end
    end
  end
  return answer
end

local function offer_write(name, callback)
  redis.register_function{function_name = name .. '_@VERSION@', callback = callback}
end

local function offer_read(name, callback)
  redis.register_function{
    function_name = name .. '_@VERSION@', callback = callback, flags = {'no-writes'},
  }
end
