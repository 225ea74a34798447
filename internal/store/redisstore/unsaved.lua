-- Reads members with unsaved changes of a guild that is about to be loaded anew, and makes the hydration's lock last longer.
--
-- KEYS     meta lock, xp entry
-- ARGV     incarnation, token, how long the lock lasts in ms, members...
-- returns  {rev, epoch, what is known to be archived, or on its way, {xp | nil, ...}, {entry | nil, ...}} | HYDRATIONLOST
-- atomic   all entries and rev are of one moment
if not locked() then return 'HYDRATIONLOST' end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local meta = redis.call('HMGET', KEYS[1], 'rev', 'epoch', 'archived', 'pending')
local xp, entry = entries(3, ARGV, 4)
local pending = meta[4] and tonumber(meta[4]) > tonumber(meta[3]) and meta[4]
return {meta[1], meta[2], pending or meta[3], xp, entry}
