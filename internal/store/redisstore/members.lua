-- Reads members' entries and ranks.
--
-- KEYS     meta xp entry off
-- ARGV     incarnation, flags (loaded.lua), members (at most 1000)
-- returns  {members as in ranked.lua} | NOTLOADED
-- atomic   all entries and ranks are of one moment; nothing is changed
local _, xp_key, entry_key, off_key = unpack(KEYS)
if not loaded() then return 'NOTLOADED' end
return ranked(xp_key, off_key, entry_key, {unpack(ARGV, 3)})
