-- Gives a hydration's lock up, if it is still held, and drops the staging keys.
--
-- KEYS     lock, staging keys
-- ARGV     token
-- returns  {}
-- atomic   the check and the removal
local lock_key, token = KEYS[1], ARGV[1]
if redis.call('GET', lock_key) == token .. '@' .. SERVER then redis.call('DEL', lock_key) end
redis.call('UNLINK', unpack(KEYS, 2))
return {}
