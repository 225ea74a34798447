-- Reads any number of members of a key with HMGET or ZMSCORE, in pieces, because Lua's stack bounds unpack.
local function values(command, key, members)
  local all = {}
  for from = 1, #members, 1000 do
    local part = redis.call(command, key, unpack(members, from, math.min(from + 999, #members)))
    for i = 1, #part do all[from + i - 1] = part[i] end
  end
  return all
end
