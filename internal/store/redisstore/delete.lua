-- Removes a member's entry, its cooldown included.
--
-- KEYS     meta xp entry dirty events, records and journal as in changing.lua
-- ARGV     incarnation, member, what once takes
-- returns  {first as in create.lua, 0, 0, 0} | {REPLAYED, '0 0 0'} | NOTLOADED | KEYREUSED | CLAIMLOST | ASKARCHIVE | NOMEMBER
-- atomic   the entry, the guild's rev, the note for the snapshot, which finds nothing and writes a tombstone, the record and the journal
local found, rev, since, pending = loaded('rev', 'since', 'pending')
if not found then return 'NOTLOADED' end
local answer = once()
if answer then return answer end
if redis.call('ZREM', KEYS[2], ARGV[2]) == 0 then return 'NOMEMBER' end
redis.call('HDEL', KEYS[3], ARGV[2])
local first, counted = note(rev, since, pending, ARGV, 2, 2)
record(counted, ARGV[2], '0 0 0')
return {first, 0, 0, 0}
