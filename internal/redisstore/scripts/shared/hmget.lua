-- HMGET of the fields list[first], list[first + 1], ... in pieces, because unpack is bounded by the stack of Lua.
local function hmget(key, list, first)
  local values = {}
  for from = first, #list, 1000 do
    local part = redis.call('HMGET', key, unpack(list, from, math.min(from + 999, #list)))
    for i = 1, #part do values[#values + 1] = part[i] end
  end
  return values
end
