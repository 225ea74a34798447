-- Removes a guild's keys if they are of this incarnation or of none, and stops a hydration of this incarnation.
--
-- KEYS     meta lock, events of this incarnation, once, then all other keys of the guild
-- ARGV     incarnation, how long a record lasts in ms
-- returns  {}
-- atomic   the check and the removal
local meta_key, lock_key, events_key, once_key = unpack(KEYS, 1, 4)
local incarnation, record_ms = unpack(ARGV)
local lock = redis.call('GET', lock_key)
if lock and string.sub(lock, 1, #incarnation + 1) == incarnation .. '-' then redis.call('DEL', lock_key) end
redis.call('UNLINK', events_key)
local there = redis.call('HGET', meta_key, 'incarnation')
if there and there ~= incarnation then return {} end
redis.call('UNLINK', meta_key, unpack(KEYS, 5))
if redis.call('HLEN', once_key) > 1 then redis.call('PEXPIRE', once_key, record_ms) else redis.call('UNLINK', once_key) end
return {}
