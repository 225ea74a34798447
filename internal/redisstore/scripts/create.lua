-- Makes an entry with no messages and no cooldown.
--
-- KEYS     meta xp stat user dirty
-- ARGV     incarnation, member, xp, user
-- returns  {first: 1 when no other changed member waits for the snapshot, else 0} | NOTLOADED | EXISTS
-- atomic   the check, the entry, the guild's rev and the note for the snapshot
if redis.call('ZADD', KEYS[2], 'NX', ARGV[3], ARGV[2]) == 0 then return 'EXISTS' end
redis.call('HSET', KEYS[3], ARGV[2], '0 ' .. now() .. ' 0')
redis.call('HSET', KEYS[4], ARGV[2], ARGV[4])
return {touch(ARGV[2])}
