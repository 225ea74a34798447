-- Reads all changed members of a guild for the snapshot writer, when they are few, and notes the rev that the archive may
-- hold from now on. They stay noted as changed until end_changes.lua.
--
-- KEYS     meta xp entry dirty
-- ARGV     incarnation, epoch, what the archive holds, up to how many members
-- returns  as read_batch.lua, and then {member, ...} | {} when nothing changed | {0} when they are more | {1} when a set aside was
--          left behind, which begin_flush.lua finds | NOTLOADED | STALE
-- atomic   as read_batch.lua
if not current() then return 'NOTLOADED' end
if flushing then return {1} end
local count = redis.call('SCARD', KEYS[4])
if count > tonumber(ARGV[4]) then return {0} end
if count == 0 then return {} end
if not raise(ARGV[3]) then return 'STALE' end
local members = redis.call('SMEMBERS', KEYS[4])
local xp, entry = entries(2, members, 1)
return {rev, xp, entry, archived, pending, members}
