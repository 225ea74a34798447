-- Removes a member's entry, its cooldown included, also of one that is not present.
--
-- KEYS     as in request.lua
-- ARGV     as in request.lua; member
-- returns  {'before', XP, 'after', 0, 'count', 0} | {'replayed', '0 0 0'} | NOTLOADED | NOMEMBER | KEYREUSED | ASKARCHIVE
-- atomic   the entry, its gains in running periods, the guild's rev, the note for the snapshot, which finds nothing and writes a
--          tombstone, the event, the record and the journal
local meta_key, xp_key, off_key, entry_key, dirty_key, events_key, journal_key, once_key = unpack(KEYS, 1, 8)
local _, days, _, audit, name, request, past, ttl, member = unpack(ARGV)
local keyed = {name = name, request = request, past = past, ttl = ttl}

local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local time = now()
local answer = replayed(meta_key, once_key, keyed, time)
if answer then return answer end
local present, absent = redis.call('ZMSCORE', xp_key, member)[1], redis.call('ZMSCORE', off_key, member)[1]
if not present and not absent then return 'NOMEMBER' end
local xp = string.format('%.0f', (present or absent) + 0)

redis.call('ZREM', xp_key, member)
redis.call('ZREM', off_key, member)
redis.call('HDEL', entry_key, member)
move_on_boards(meta_key, boards, days, member)
if present then event(meta_key, events_key, 'o', member) end
rev = note(meta_key, dirty_key, rev, since, pending, time, {member})
record(journal_key, once_key, keyed, audit, {rev = rev, users = member, outcome = '0 0 0', before = xp})
return {'before', xp, 'after', 0, 'count', 0}
