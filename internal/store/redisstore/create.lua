-- Makes an entry with no messages and no cooldown.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua; member, XP, user data (entry.lua)
-- returns  {'before', 0, 'after', XP, 'count', 0} | {'replayed', 'before after count'} | NOTLOADED | EXISTS | KEYREUSED |
--          ASKARCHIVE
-- atomic   the checks, the entry, the guild's rev, the note for the snapshot, the event, the record and the journal
local meta_key, xp_key, off_key, entry_key, dirty_key, events_key, journal_key, once_key = unpack(KEYS, 1, 8)
local _, _, curve, audit, name, request, past, ttl, member, xp, user = unpack(ARGV)
local keyed = {name = name, request = request, past = past, ttl = ttl}

local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local time = now()
local answer = replayed(meta_key, once_key, keyed, time)
if answer then return answer end
if redis.call('ZMSCORE', off_key, member)[1] or redis.call('ZADD', xp_key, 'NX', xp, member) == 0 then return 'EXISTS' end

redis.call('HSET', entry_key, member, entry_text(0, time, 0, first_gains(dirty_key, boards, member), user))
if leveled(read_curve(curve), 0, xp + 0) then event(meta_key, events_key, 'u', member, 'b', 0, 'a', xp) end
rev = note(meta_key, dirty_key, rev, since, pending, time, {member})
record(journal_key, once_key, keyed, audit, {rev = rev, users = member, outcome = '0 ' .. xp .. ' 0', after = xp})
return {'before', 0, 'after', xp, 'count', 0}
