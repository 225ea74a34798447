-- Reads members' entries and ranks.
--
-- KEYS     meta xp entry dirty
-- ARGV     incarnation, members (at most 1000)
-- returns  {{xp, ...}, {rank from 0, ...}, {entry, ...}}, with nil where there is none | NOTLOADED
-- atomic   all entries and ranks are of one moment; nothing is changed
if not loaded() then return 'NOTLOADED' end
local scores, ranks = redis.call('ZMSCORE', KEYS[2], unpack(ARGV, 2)), {}
for i = 1, #scores do ranks[i] = scores[i] and redis.call('ZREVRANK', KEYS[2], ARGV[1 + i]) end
return {scores, ranks, redis.call('HMGET', KEYS[3], unpack(ARGV, 2))}
