-- Looks for a member in a guild that is in use.
--
-- KEYS     meta xp off entry
-- ARGV     member
-- returns  {} when the guild is not in use | {'incarnation', incarnation, 'xp', 'entries' as in rows.lua}
-- atomic   all of it; nothing is changed
local meta_key, xp_key, off_key, entry_key = unpack(KEYS)
local incarnation, server = unpack(redis.call('HMGET', meta_key, 'incarnation', 'server'), 1, 2)
if not incarnation or server ~= SERVER then return {} end
local xp, entries = rows(xp_key, off_key, entry_key, {ARGV[1]})
return {'incarnation', incarnation, 'xp', xp, 'entries', entries}
