-- Adds members to the staging keys of a hydration and extends its lock.
--
-- KEYS     meta lock, staged xp, off, entry, boards of the day, week, month and season
-- ARGV     incarnation, token, how long the lock lasts in ms, how long the staging keys last in ms; for each staged key how many pairs
--          it gets (at most 1000); then all pairs: XP and member, for entry member and entry, for the boards gain (boards.lua) and member
-- returns  {} | HYDRATIONLOST
-- atomic   the check and the chunk
local _, lock_key = unpack(KEYS, 1, 2)
local _, _, lock_ms, staging_ms = unpack(ARGV, 1, 4)
if not locked() then return 'HYDRATIONLOST' end
redis.call('PEXPIRE', lock_key, lock_ms)
local at = 12
for i = 1, 7 do
  local words = 2 * ARGV[4 + i]
  if words > 0 then redis.call(i == 3 and 'HSET' or 'ZADD', KEYS[2 + i], unpack(ARGV, at, at + words - 1)) end
  redis.call('PEXPIRE', KEYS[2 + i], staging_ms)
  at = at + words
end
return {}
