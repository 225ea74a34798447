-- Marks a guild as verified on this life of the server: it holds all that is archived. Ends the hydration.
--
-- KEYS     meta lock
-- ARGV     incarnation, token, the archive's new epoch
-- returns  {} | HYDRATIONLOST
-- atomic   all of it; the guild is loaded from this moment on
local meta_key, lock_key = unpack(KEYS)
local epoch = ARGV[3]
if not locked() then return 'HYDRATIONLOST' end
redis.call('HSET', meta_key, 'epoch', epoch, 'server', SERVER)
redis.call('DEL', lock_key)
return {}
