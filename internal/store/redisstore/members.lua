-- Reads members' entries and ranks.
--
-- KEYS     meta xp entry
-- ARGV     incarnation, members (at most 1000)
-- returns  {xp | nil, rank from 0 | nil, entry | nil, ...}: three for each member | NOTLOADED
-- atomic   all entries and ranks are of one moment; nothing is changed
if not loaded() then return 'NOTLOADED' end
return ranked(2)
