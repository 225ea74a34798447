-- Takes back that a guild was verified, since the archive holds what this server does not know of. Until it is loaded anew
-- nothing of it is used, and what has changed stays noted.
--
-- KEYS     meta
-- ARGV     incarnation, epoch
-- returns  {} | NOTLOADED
-- atomic   the check and the change
if not current() then return 'NOTLOADED' end
redis.call('HDEL', KEYS[1], 'server')
return {}
