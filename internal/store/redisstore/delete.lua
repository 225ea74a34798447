-- Removes a member's entry, its cooldown included, also of one that is not present.
--
-- KEYS     meta xp entry dirty events, boards as in counting.lua, records and journal as in changing.lua
-- ARGV     incarnation, what counting.lua takes, member, what once takes
-- returns  {0, 0, 0} | {REPLAYED, '0 0 0'} | NOTLOADED | KEYREUSED | CLAIMLOST | ASKARCHIVE | NOMEMBER
-- atomic   the entry, its gains in running periods, the guild's rev, the note for the snapshot, which finds nothing and writes a tombstone, the event, the record and the journal
local found, rev, since, pending, boards = loaded('rev', 'since', 'pending', 'boards')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
local entry, audit = redis.call('HGET', KEYS[3], ARGV[3]), audited()
local away = absent(entry)
local xp = away
if audit ~= '' and not xp then xp = redis.call('ZMSCORE', KEYS[2], ARGV[3])[1] end
if redis.call('ZREM', KEYS[2], ARGV[3]) == 0 and not away then return 'NOMEMBER' end
redis.call('HDEL', KEYS[3], ARGV[3])
parted(ARGV[3], boards)
if not away then event(KEYS[5], 'o', ARGV[3]) end
local counted = note(rev, since, pending, ARGV, 3, 3)
record(counted, ARGV[3], '0 0 0', audit, xp and string.format('%.0f', xp + 0))
return {0, 0, 0}
