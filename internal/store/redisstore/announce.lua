-- Appends an event to a guild's log that no change of a member caused.
--
-- KEYS     meta events
-- ARGV     incarnation, flags (loaded.lua), a field of an event (docs/redis-keys.md) and its value
-- returns  {} | NOTLOADED
-- atomic   all of it
local meta_key, events_key = unpack(KEYS)
local _, _, field, value = unpack(ARGV)
if not loaded() then return 'NOTLOADED' end
event(meta_key, events_key, false, field, value)
return {}
