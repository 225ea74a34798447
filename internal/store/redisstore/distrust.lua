-- Takes back that a guild was verified, since the archive holds what this server does not know of. Until it is loaded again nothing of
-- it is used, and what has changed stays noted.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, what was known to be archived, or on its way, before the batch was read that was refused: that is on its
--          way no more
-- returns  {} | NOTLOADED
-- atomic   the check and the change
local meta_key, known = KEYS[1], ARGV[3]
local found, pending = current('pending')
if not found then return 'NOTLOADED' end
redis.call('HDEL', meta_key, 'server', 'read')
if pending and pending + 0 > known + 0 then redis.call('HSET', meta_key, 'pending', known) end
return {}
