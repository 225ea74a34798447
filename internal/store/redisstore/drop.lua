-- Removes a guild's keys if they are of this incarnation or of none, and stops a hydration of this incarnation.
--
-- KEYS     meta lock, xp entry dirty, the prefix of the names of sets aside, events of this incarnation, stat and user of the
--          format before
-- ARGV     incarnation
-- returns  {}
-- atomic   the check and the removal
local lock = redis.call('GET', KEYS[2])
if lock and string.sub(lock, 1, #ARGV[1] + 1) == ARGV[1] .. '-' then redis.call('DEL', KEYS[2]) end

redis.call('UNLINK', KEYS[7])
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'flushing')
if meta[1] and meta[1] ~= ARGV[1] then return {} end
if meta[2] then redis.call('UNLINK', KEYS[6] .. meta[2]) end
redis.call('UNLINK', KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[8], KEYS[9])
return {}
