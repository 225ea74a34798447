-- Reads members with unsaved changes of a guild that is about to be loaded again, and makes the hydration's lock last longer.
--
-- KEYS     meta lock, xp entry journal
-- ARGV     incarnation, token, how long the lock lasts in ms, from which id on the journal is read, or '' for none of it, members...
-- returns  {rev, epoch, the rev at which something was read for the archive last, or up to which it is archived, {xp | nil, ...}, {entry | nil, ...}, up to 250 entries of the
--          journal as in read_changes.lua} | HYDRATIONLOST
-- atomic   all entries and rev are of one moment
if not locked() then return 'HYDRATIONLOST' end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local meta = redis.call('HMGET', KEYS[1], 'rev', 'epoch', 'archived', 'read')
local xp, entry = entries(3, ARGV, 5)
local journal = ARGV[4] ~= '' and redis.call('XRANGE', KEYS[5], ARGV[4], '+', 'COUNT', 250) or {}
return {meta[1], meta[2], meta[4] or meta[3], xp, entry, journal}
