-- Puts into a guild's log of events what does not come of a change of a member.
--
-- KEYS     meta, events
-- ARGV     incarnation, a field of an event (docs/redis-keys.md) and what it holds
-- returns  {} | NOTLOADED
-- atomic   all of it
if not loaded() then return 'NOTLOADED' end
event(KEYS[2], ARGV[2], ARGV[3])
return {}
