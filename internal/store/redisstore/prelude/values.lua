-- Asks for a list of members of a key with a command that takes many (HMGET, ZMSCORE), in pieces, because unpack is bounded by the
-- stack of Lua.
local function values(command, key, members)
  local all = {}
  for from = 1, #members, 1000 do
    local part = redis.call(command, key, unpack(members, from, math.min(from + 999, #members)))
    for i = 1, #part do all[#all + 1] = part[i] end
  end
  return all
end
