-- Removes a member's entry, its cooldown included.
--
-- KEYS     meta xp stat user dirty
-- ARGV     incarnation, member
-- returns  {first as in create.lua} | NOTLOADED | NOMEMBER
-- atomic   the entry, the guild's rev and the note for the snapshot, which finds nothing and writes a tombstone
if redis.call('ZREM', KEYS[2], ARGV[2]) == 0 then return 'NOMEMBER' end
redis.call('HDEL', KEYS[3], ARGV[2])
redis.call('HDEL', KEYS[4], ARGV[2])
return {touch(ARGV[2])}
