-- Reads entries of a guild's journal, newest first, whether the guild is verified or frozen or not.
--
-- KEYS     meta journal
-- ARGV     incarnation, from which id backwards, at most how many
-- returns  {'now', in ms, 'journal', {entry as in read_changes.lua, ...}} | {} when this incarnation is not loaded
-- atomic   all entries are of one moment
local meta_key, journal_key = unpack(KEYS)
local incarnation, from, size = unpack(ARGV)
if redis.call('HGET', meta_key, 'incarnation') ~= incarnation then return {} end
return {'now', now(), 'journal', redis.call('XREVRANGE', journal_key, from, '-', 'COUNT', size)}
