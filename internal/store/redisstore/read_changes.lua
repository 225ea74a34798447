-- Reads all changed members of a guild for the snapshot writer, when they are few, and notes the rev that the archive may
-- hold from now on. They stay noted as changed until end_changes.lua. The archive itself sees whether the guild fits it.
--
-- KEYS     meta xp entry dirty
-- ARGV     up to how many members
-- returns  as read_batch.lua, and then {member, ...}, incarnation, epoch | {} when nothing changed, or the guild is not loaded |
--          {0} when they are more | {1} when a set aside was left behind, which begin_flush.lua finds | {2, incarnation} when the guild was
--          not verified on this life of the server
-- atomic   as read_batch.lua
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'archived', 'pending', 'flushing')
if not meta[1] then return {} end
if meta[2] ~= SERVER then return {2, meta[1]} end
if meta[7] then return {1} end
local count = redis.call('SCARD', KEYS[4])
if count > tonumber(ARGV[1]) then return {0} end
if count == 0 then return {} end
put('pending', meta[4])
if meta[4] == meta[5] then -- as in read_batch.lua
  meta[4] = string.format('%.0f', tonumber(meta[4]) + 1)
  redis.call('HSET', KEYS[1], 'rev', meta[4], 'pending', meta[4])
end
local members = redis.call('SMEMBERS', KEYS[4])
local xp, entry = entries(2, members, 1)
return {meta[4], xp, entry, meta[5], meta[6], members, meta[1], meta[3]}
