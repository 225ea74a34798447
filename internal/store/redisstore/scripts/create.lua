-- Makes an entry with no messages and no cooldown.
--
-- KEYS     meta xp entry dirty events, record as in once.lua
-- ARGV     incarnation, member, xp, user, what levelup.lua takes, what once.lua takes
-- returns  {xp before, xp after, message count, first: 1 when no other changed member waits for the snapshot, else 0} |
--          {REPLAYED, 'before after count'} | NOTLOADED | KEYREUSED | CLAIMLOST | EXISTS
-- atomic   the checks, the entry, the guild's rev, the note for the snapshot, the event and the record
local found, rev, since = loaded('rev', 'since')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
if redis.call('ZADD', KEYS[2], 'NX', ARGV[3], ARGV[2]) == 0 then return 'EXISTS' end
redis.call('HSET', KEYS[3], ARGV[2], '0 ' .. stamp() .. ' 0 ' .. ARGV[4])
levelup(ARGV[2], 0, tonumber(ARGV[3]))
record(0, ARGV[3], 0)
return {0, ARGV[3], 0, note(rev, since, ARGV, 2, 2)}
