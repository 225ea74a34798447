-- Reads the XP and the entries of the members list[first], list[first + 1], ...: two lists, with nil where there is none.
-- KEYS[at] xp, KEYS[at + 1] entry; after values.lua.
local function entries(at, list, first)
  return values('ZMSCORE', KEYS[at], list, first), values('HMGET', KEYS[at + 1], list, first)
end
