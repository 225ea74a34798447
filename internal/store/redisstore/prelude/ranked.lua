-- Reads the members ARGV[first], ARGV[first + 1], ... (at most 1000): XP, rank from 0 and entry of each, one after the other, with
-- nil where there is none, which is false to Lua: a list of an answer ends at nil. They are in one list, because a list takes
-- Redis longer to answer than the few values that are in it.
-- KEYS[2] xp, KEYS[3] entry.
local function ranked(first)
  if not ARGV[first] then return {} end
  local scores, entries = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, first)), redis.call('HMGET', KEYS[3], unpack(ARGV, first))
  local all = {nil, nil, nil} -- room for one member: each time that a table grows it is made again
  for i = 1, #scores do
    all[3 * i - 2] = scores[i]
    all[3 * i - 1] = scores[i] and redis.call('ZREVRANK', KEYS[2], ARGV[first + i - 1])
    all[3 * i] = entries[i]
  end
  return all
end
