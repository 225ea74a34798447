-- Reads members with unsaved changes of a guild that has gone back in time, and makes the hydration's lock last longer.
--
-- KEYS     meta lock, xp stat user
-- ARGV     incarnation, token, how long the lock lasts in ms, members...
-- returns  {rev, {xp | nil, ...}, {stat | nil, ...}, {user | nil, ...}, epoch} | HYDRATIONLOST
-- atomic   all entries and rev are of one moment
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local meta = redis.call('HMGET', KEYS[1], 'rev', 'epoch')
local xp, stat, user = entries(3, 4)
return {meta[1], xp, stat, user, meta[2]}
