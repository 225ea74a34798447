-- Asks for list[first], list[first + 1], ... of a key with a command that takes many (HMGET, ZMSCORE), in pieces, because unpack is
-- bounded by the stack of Lua.
local function values(command, key, list, first)
  local all = {}
  for from = first, #list, 1000 do
    local part = redis.call(command, key, unpack(list, from, math.min(from + 999, #list)))
    for i = 1, #part do all[#all + 1] = part[i] end
  end
  return all
end
