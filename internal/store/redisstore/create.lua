-- Creates an entry without messages and cooldown.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua; member, XP, user data (entry.lua)
-- returns  {'before', 0, 'after', XP, 'count', 0} | {'replayed', 'before after count'} | NOTLOADED | EXISTS | KEYREUSED | ASKARCHIVE
-- atomic   the checks, the entry, the guild's rev, the note for the snapshot, the event, the record and the journal
local member, xp, user = unpack(ARGV, 10)
if redis.call('ZMSCORE', xp_key, member)[1] or redis.call('ZMSCORE', off_key, member)[1] then return 'EXISTS' end
local hidden = redis.call('HGET', hidden_key, member)
redis.call('ZADD', seat('', hidden), xp, member)
redis.call('HSET', entry_key, member, entry_text(0, time, 0, '', first_gains(dirty_key, boards, member), user))
if leveled(read_curve(curve), 0, xp + 0) then event(meta_key, events_key, hidden, 'u', member, 'b', 0, 'a', xp, 's', 1) end
rev = note(meta_key, dirty_key, rev, since, pending, time, {member})
record(member, '0 ' .. xp .. ' 0', nil, xp)
return {'before', 0, 'after', xp, 'count', 0}
