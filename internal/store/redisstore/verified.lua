-- Notes that a guild holds all that is archived of it, on this life of this server, and ends the hydration.
--
-- KEYS     meta lock
-- ARGV     incarnation, token, the epoch that the archive was raised to
-- returns  {} | HYDRATIONLOST
-- atomic   all of it; the guild is loaded from this moment on
local meta_key, lock_key = unpack(KEYS)
local epoch = ARGV[3]
if not locked() then return 'HYDRATIONLOST' end
redis.call('HSET', meta_key, 'epoch', epoch, 'server', SERVER)
redis.call('DEL', lock_key)
return {}
