-- Removes a guild's keys if they are of this incarnation or of none, and stops a hydration of this incarnation.
--
-- KEYS     meta lock, xp entry dirty journal, events of this incarnation, records, boards of periods
-- ARGV     incarnation, how long a record lasts in ms
-- returns  {}
-- atomic   the check and the removal
local lock = redis.call('GET', KEYS[2])
if lock and string.sub(lock, 1, #ARGV[1] + 1) == ARGV[1] .. '-' then redis.call('DEL', KEYS[2]) end

redis.call('UNLINK', KEYS[7])
local incarnation = redis.call('HGET', KEYS[1], 'incarnation')
if incarnation and incarnation ~= ARGV[1] then return {} end
redis.call('UNLINK', KEYS[1], KEYS[3], KEYS[4], KEYS[5], KEYS[6], unpack(KEYS, 9))
if redis.call('HLEN', KEYS[8]) > 1 then redis.call('PEXPIRE', KEYS[8], ARGV[2]) else redis.call('UNLINK', KEYS[8]) end
return {}
