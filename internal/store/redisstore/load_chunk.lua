-- Puts members into the staging keys of a hydration and makes its lock last longer.
--
-- KEYS     meta lock, staged xp, staged entry
-- ARGV     incarnation, token, how long the lock lasts in ms, how long the staging keys last in ms, n (1 to 1000), then
--          n pairs of xp and member, n pairs of member and entry
-- returns  {} | HYDRATIONLOST
-- atomic   the check and the chunk
if not locked() then return 'HYDRATIONLOST' end
local pairs_end = 5 + 2 * tonumber(ARGV[5])
local width = pairs_end - 5
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('ZADD', KEYS[3], unpack(ARGV, 6, pairs_end))
redis.call('HSET', KEYS[4], unpack(ARGV, 6 + width, pairs_end + width))
for i = 3, 4 do redis.call('PEXPIRE', KEYS[i], ARGV[4]) end
return {}
