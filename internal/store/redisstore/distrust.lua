-- Takes back that a guild was verified, since the archive holds what this server does not know of. Until it is loaded again
-- nothing of it is used, and what has changed stays noted.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, and if a batch was refused, which so is not on its way any more: what was known to be archived, or on its
--          way, before it was read
-- returns  {} | NOTLOADED
-- atomic   the check and the change
if not current() then return 'NOTLOADED' end
redis.call('HDEL', KEYS[1], 'server', 'read')
if ARGV[3] and pending and tonumber(pending) > tonumber(ARGV[3]) then redis.call('HSET', KEYS[1], 'pending', ARGV[3]) end
return {}
