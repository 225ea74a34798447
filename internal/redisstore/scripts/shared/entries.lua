-- Reads the entries of the members ARGV[first], ARGV[first + 1], ...: the lists of their XP, stats and user data, with nil
-- where there is none.
-- KEYS[at] xp, KEYS[at + 1] stat, KEYS[at + 2] user.
local function entries(at, first)
  local xp, stat, user = {}, {}, {}
  for from = first, #ARGV, 1000 do -- in pieces, because unpack is bounded by the stack of Lua
    local to = math.min(from + 999, #ARGV)
    local scores = redis.call('ZMSCORE', KEYS[at], unpack(ARGV, from, to))
    local stats = redis.call('HMGET', KEYS[at + 1], unpack(ARGV, from, to))
    local users = redis.call('HMGET', KEYS[at + 2], unpack(ARGV, from, to))
    for i = 1, #scores do
      xp[#xp + 1], stat[#stat + 1], user[#user + 1] = scores[i], stats[i], users[i]
    end
  end
  return xp, stat, user
end
