-- Puts into a guild's log of events that a period has closed.
--
-- KEYS     meta, events
-- ARGV     incarnation, what is told of the period
-- returns  {} | NOTLOADED
-- atomic   all of it
if not loaded() then return 'NOTLOADED' end
event(KEYS[2], 'p', ARGV[2])
return {}
