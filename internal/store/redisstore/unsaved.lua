-- Reads members with unsaved changes of a guild that will be loaded again, and extends the hydration's lock.
--
-- KEYS     meta lock xp off entry journal
-- ARGV     incarnation, token, how long the lock lasts in ms, the first id of the journal to read, or '' to skip it, members...
-- returns  {'rev', rev, 'epoch', epoch, 'read', the rev at the last read for the archive, or else `archived`,
--          'xp', 'entries' as in rows.lua, 'journal', up to 250 entries as in read_changes.lua} | HYDRATIONLOST
-- atomic   all entries and rev are of one moment
local meta_key, lock_key, xp_key, off_key, entry_key, journal_key = unpack(KEYS)
local _, _, lock_ms, journal_from = unpack(ARGV, 1, 4)
local members = {unpack(ARGV, 5)}
if not locked() then return 'HYDRATIONLOST' end
redis.call('PEXPIRE', lock_key, lock_ms)
local rev, epoch, archived, read = unpack(redis.call('HMGET', meta_key, 'rev', 'epoch', 'archived', 'read'), 1, 4)
local journal = journal_from ~= '' and redis.call('XRANGE', journal_key, journal_from, '+', 'COUNT', 250) or {}
local xp, entries = rows(xp_key, off_key, entry_key, members)
return {'rev', rev, 'epoch', epoch, 'read', read or archived, 'xp', xp, 'entries', entries, 'journal', journal}
