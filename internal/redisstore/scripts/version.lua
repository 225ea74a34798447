-- Reads a guild's version.
--
-- KEYS     meta
-- ARGV     incarnation
-- returns  {epoch, rev} | NOTLOADED
-- atomic   both are of one moment; nothing is changed
if not loaded() then return 'NOTLOADED' end
return {epoch, rev}
