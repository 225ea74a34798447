-- Removes a member's entry with its cooldown. The member may be absent.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua; member
-- returns  {'before', XP, 'after', 0, 'count', 0} | {'replayed', '0 0 0'} | NOTLOADED | NOMEMBER | KEYREUSED | ASKARCHIVE
-- atomic   all of it; the snapshot finds no entry and writes a tombstone
local member = ARGV[10]
local on, off = redis.call('ZMSCORE', xp_key, member)[1], redis.call('ZMSCORE', off_key, member)[1]
if not on and not off then return 'NOMEMBER' end
local xp = string.format('%.0f', (on or off) + 0)
local _, _, absent = fields(redis.call('HGET', entry_key, member))
redis.call('ZREM', on and xp_key or off_key, member)
redis.call('HDEL', entry_key, member)
move_on_boards(member)
if absent ~= 'a' then event(meta_key, events_key, off, 'o', member) end
rev = note(meta_key, dirty_key, rev, since, pending, time, {member})
record(member, '0 0 0', xp)
return {'before', xp, 'after', 0, 'count', 0}
