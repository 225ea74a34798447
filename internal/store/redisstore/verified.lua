-- Notes that a guild holds all that is archived of it, on this life of this server, and ends the hydration.
--
-- KEYS     meta lock
-- ARGV     incarnation, token, the epoch that the archive was raised to
-- returns  {} | HYDRATIONLOST
-- atomic   all of it; the guild is loaded from this moment on
if not locked() then return 'HYDRATIONLOST' end
redis.call('HSET', KEYS[1], 'epoch', ARGV[3], 'server', SERVER)
redis.call('DEL', KEYS[2])
return {}
