-- Puts members into the staging keys of a hydration and makes its lock last longer.
--
-- KEYS     meta lock, staged xp, staged entry
-- ARGV     incarnation, token, how long the lock lasts in ms, how long the staging keys last in ms, n (at most 1000), then
--          n pairs of xp and member, of those who are present, and pairs of member and entry, of all
-- returns  {} | HYDRATIONLOST
-- atomic   the check and the chunk
if not locked() then return 'HYDRATIONLOST' end
local pairs_end = 5 + 2 * tonumber(ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
if pairs_end > 5 then redis.call('ZADD', KEYS[3], unpack(ARGV, 6, pairs_end)) end
redis.call('HSET', KEYS[4], unpack(ARGV, pairs_end + 1))
for i = 3, 4 do redis.call('PEXPIRE', KEYS[i], ARGV[4]) end
return {}
