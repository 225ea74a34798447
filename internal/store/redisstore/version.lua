-- Reads a guild's version.
--
-- KEYS     meta
-- ARGV     incarnation, flags (loaded.lua)
-- returns  {'epoch', epoch, 'rev', rev} | NOTLOADED
-- atomic   both are of one moment; nothing is changed
local found, epoch, rev = loaded('epoch', 'rev')
if not found then return 'NOTLOADED' end
return {'epoch', epoch, 'rev', rev}
