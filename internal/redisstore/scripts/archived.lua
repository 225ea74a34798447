-- Notes that the archive has committed a batch.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, rev of the batch
-- returns  {} | NOTLOADED
-- atomic   `archived` rises, never falls, and `pending` is cleared when it is not above
local rev = tonumber(ARGV[3])
local meta = redis.call('HMGET', KEYS[1], 'archived', 'pending')
if rev > tonumber(meta[1]) then redis.call('HSET', KEYS[1], 'archived', ARGV[3]) end
if meta[2] and tonumber(meta[2]) <= rev then redis.call('HDEL', KEYS[1], 'pending') end
return {}
