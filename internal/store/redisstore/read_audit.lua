-- Reads entries of a guild's journal, newest first. The guild need not be verified.
--
-- KEYS     meta journal
-- ARGV     incarnation, the newest id to read, how many at most
-- returns  {'now', in ms, 'journal', {entry as in read_changes.lua, ...}} | {} when this incarnation is not loaded
-- atomic   all entries are of one moment
local meta_key, journal_key = unpack(KEYS)
local incarnation, from, size = unpack(ARGV)
if redis.call('HGET', meta_key, 'incarnation') ~= incarnation then return {} end
return {'now', now(), 'journal', redis.call('XREVRANGE', journal_key, from, '-', 'COUNT', size)}
