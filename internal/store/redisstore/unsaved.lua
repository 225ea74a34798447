-- Reads members with unsaved changes of a guild that is about to be loaded anew, and makes the hydration's lock last longer.
--
-- KEYS     meta lock, xp entry
-- ARGV     incarnation, token, how long the lock lasts in ms, members...
-- returns  {rev, epoch, the rev at which something was read for the archive last, or up to which it is archived, {xp | nil, ...}, {entry | nil, ...}} | HYDRATIONLOST
-- atomic   all entries and rev are of one moment
if not locked() then return 'HYDRATIONLOST' end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local meta = redis.call('HMGET', KEYS[1], 'rev', 'epoch', 'archived', 'read')
local xp, entry = entries(3, ARGV, 4)
return {meta[1], meta[2], meta[4] or meta[3], xp, entry}
