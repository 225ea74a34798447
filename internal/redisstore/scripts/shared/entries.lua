-- Reads the XP and the entries of the members list[first], list[first + 1], ...: two lists, with nil where there is none.
-- KEYS[at] xp, KEYS[at + 1] entry.
local function entries(at, list, first)
  local xp, entry = {}, {}
  for from = first, #list, 1000 do -- in pieces, because unpack is bounded by the stack of Lua
    local to = math.min(from + 999, #list)
    local scores = redis.call('ZMSCORE', KEYS[at], unpack(list, from, to))
    local texts = redis.call('HMGET', KEYS[at + 1], unpack(list, from, to))
    for i = 1, #scores do xp[#xp + 1], entry[#entry + 1] = scores[i], texts[i] end
  end
  return xp, entry
end
