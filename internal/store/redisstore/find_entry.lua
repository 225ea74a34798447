-- Looks for a member in a guild that is in use.
--
-- KEYS     meta xp entry
-- ARGV     member
-- returns  {} when the guild is not in use | {incarnation, {xp | nil}, {entry | nil}}
-- atomic   all of it; nothing is changed
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server')
if not meta[1] or meta[2] ~= SERVER then return {} end
return {meta[1], redis.call('ZMSCORE', KEYS[2], ARGV[1]), redis.call('HMGET', KEYS[3], ARGV[1])}
