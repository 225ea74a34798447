-- Puts members into the staging keys of a hydration and makes its lock last longer.
--
-- KEYS     meta lock, staged xp, staged entry, staged boards of the day, week, month and season
-- ARGV     incarnation, token, how long the lock lasts in ms, how long the staging keys last in ms, then for each staged key how many pairs are for it
--          (at most 1000), and all pairs: of XP and member for those who are present, of member and entry for all, of gain (less AWAY, of
--          counting.lua, for those who are not present) and member for the boards
-- returns  {} | HYDRATIONLOST
-- atomic   the check and the chunk
if not locked() then return 'HYDRATIONLOST' end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local at = 11
for i = 3, 8 do
  local n = 2 * tonumber(ARGV[2 + i])
  if n > 0 then redis.call(i == 4 and 'HSET' or 'ZADD', KEYS[i], unpack(ARGV, at, at + n - 1)) end
  at = at + n
  redis.call('PEXPIRE', KEYS[i], ARGV[4])
end
return {}
