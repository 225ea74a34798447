-- Reads members for the snapshot writer and notes the rev that the archive may hold from now on.
--
-- KEYS     meta xp stat user dirty
-- ARGV     incarnation, epoch, members...
-- returns  {rev, {xp | nil, ...}, {stat | nil, ...}, {user | nil, ...}}, nil where there is no entry | NOTLOADED
-- atomic   all entries and rev are of one moment; `pending` in meta is that rev until the archive's commit is noted,
--          so that a writer that dies in between leaves a trace of what it may have committed
local rev = redis.call('HGET', KEYS[1], 'rev')
redis.call('HSET', KEYS[1], 'pending', rev)
local xp = {}
for i = 3, #ARGV do xp[#xp + 1] = redis.call('ZSCORE', KEYS[2], ARGV[i]) end
return {rev, xp, hmget(KEYS[3], ARGV, 3), hmget(KEYS[4], ARGV, 3)}
