-- The log of administrators' actions.

-- keys: the audit log. args: the action, the number of actions to keep.
local function append_act(keys, args)
  local newest = redis.call('ZREVRANGE', keys[1], 0, 0, 'WITHSCORES')
  redis.call('ZADD', keys[1], 'NX', tonumber(newest[2] or 0) + 1, args[1])
  redis.call('ZREMRANGEBYRANK', keys[1], 0, -tonumber(args[2]) - 1)
  return 1
end

offer_write('append_act', append_act)
