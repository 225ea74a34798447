-- Puts into a guild's log of events what does not come of a change of a member.
--
-- KEYS     meta events
-- ARGV     incarnation, flags (loaded.lua), a field of an event (docs/redis-keys.md) and what it holds
-- returns  {} | NOTLOADED
-- atomic   all of it
local meta_key, events_key = unpack(KEYS)
local _, _, field, value = unpack(ARGV)
if not loaded() then return 'NOTLOADED' end
event(meta_key, events_key, false, field, value)
return {}
