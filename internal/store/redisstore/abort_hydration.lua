-- Releases a hydration's lock if the caller still holds it, and drops the staging keys.
--
-- KEYS     lock, staging keys
-- ARGV     token
-- returns  {}
-- atomic   the check and the removal
if redis.call('GET', KEYS[1]) == ARGV[1] .. '@' .. SERVER then redis.call('DEL', KEYS[1]) end
redis.call('UNLINK', unpack(KEYS, 2))
return {}
