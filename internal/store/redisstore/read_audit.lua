-- Reads entries of a guild's journal, newest first, whether the guild is verified or frozen or not.
--
-- KEYS     meta journal
-- ARGV     incarnation, from which id backwards, at most how many
-- returns  {now in ms, {entry as in read_changes.lua, ...}} | {} when this incarnation is not loaded
-- atomic   all entries are of one moment
if redis.call('HGET', KEYS[1], 'incarnation') ~= ARGV[1] then return {} end
return {now(), redis.call('XREVRANGE', KEYS[2], ARGV[2], '-', 'COUNT', ARGV[3])}
