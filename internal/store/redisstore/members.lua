-- Reads members' entries and ranks.
--
-- KEYS     meta xp entry
-- ARGV     incarnation, members (at most 1000)
-- returns  {members as in ranked.lua} | NOTLOADED
-- atomic   all entries and ranks are of one moment; nothing is changed
local _, xp_key, entry_key = unpack(KEYS)
local members = {unpack(ARGV, 2)}
if not loaded() then return 'NOTLOADED' end
return ranked(xp_key, entry_key, members)
