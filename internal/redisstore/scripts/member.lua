-- Reads a member's entry and rank.
--
-- KEYS     meta xp stat user dirty
-- ARGV     incarnation, member
-- returns  {xp, rank from 0, stat, user} | NOTLOADED | NOMEMBER
-- atomic   the entry and the rank are of one moment; nothing is changed
local xp = redis.call('ZSCORE', KEYS[2], ARGV[2])
if not xp then return 'NOMEMBER' end
return {
  xp,
  redis.call('ZREVRANK', KEYS[2], ARGV[2]),
  redis.call('HGET', KEYS[3], ARGV[2]),
  redis.call('HGET', KEYS[4], ARGV[2]),
}
