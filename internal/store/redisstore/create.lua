-- Makes an entry with no messages and no cooldown.
--
-- KEYS     meta xp entry dirty events, boards as in counting.lua, records and journal as in changing.lua
-- ARGV     incarnation, what counting.lua takes, what leveled takes, member, xp, user, what once takes
-- returns  {xp before, xp after, message count} | {REPLAYED, 'before after count'} | NOTLOADED | KEYREUSED | CLAIMLOST | ASKARCHIVE | EXISTS
-- atomic   the checks, the entry, the guild's rev, the note for the snapshot, the event, the record and the journal
local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
local member, xp, user = ARGV[4], ARGV[5], ARGV[6]
if absent(redis.call('HGET', KEYS[3], member)) then return 'EXISTS' end
if redis.call('ZADD', KEYS[2], 'NX', xp, member) == 0 then return 'EXISTS' end
redis.call('HSET', KEYS[3], member, '0 ' .. stamp() .. ' 0' .. born(member, boards) .. ' ' .. user)
leveled(member, 0, tonumber(xp))
local counted = note(rev, since, pending, ARGV, 4, 4)
record(counted, member, '0 ' .. xp .. ' 0', audited(), nil, xp)
return {0, xp, 0}
