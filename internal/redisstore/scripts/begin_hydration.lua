-- Takes a guild's hydration lock.
--
-- KEYS     meta lock
-- ARGV     incarnation, token, how long the lock lasts without a chunk, in ms
-- returns  {0 taken | 1 that incarnation is loaded already | 2 somebody else holds the lock}
-- atomic   the check and the lock
if redis.call('HGET', KEYS[1], 'incarnation') == ARGV[1] then return {1} end
if redis.call('SET', KEYS[2], ARGV[2], 'NX', 'PX', ARGV[3]) then return {0} end
return {2}
