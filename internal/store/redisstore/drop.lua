-- Removes a guild's keys if they belong to this incarnation or to none, and stops a hydration of this incarnation.
--
-- KEYS     meta lock, events of this incarnation, then all other keys of the guild but the records of requests, which expire
-- ARGV     incarnation
-- returns  {}
-- atomic   the check and the removal
local meta_key, lock_key, events_key, incarnation = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local lock = redis.call('GET', lock_key)
if lock and string.sub(lock, 1, #incarnation + 1) == incarnation .. '-' then redis.call('DEL', lock_key) end
redis.call('UNLINK', events_key)
local there = redis.call('HGET', meta_key, 'incarnation')
if there and there ~= incarnation then return {} end
redis.call('UNLINK', meta_key, unpack(KEYS, 4))
return {}
