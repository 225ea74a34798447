-- Marks a guild as unverified, because the archive holds changes that this server does not know. No request uses the guild until it is
-- loaded again. Its unsaved changes stay noted.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, the rev that was archived or on its way before the refused batch was read; `pending` falls back to it
-- returns  {} | NOTLOADED
-- atomic   the check and the change
local meta_key, known = KEYS[1], ARGV[3]
local found, pending = current('pending')
if not found then return 'NOTLOADED' end
redis.call('HDEL', meta_key, 'server', 'read')
if pending and pending + 0 > known + 0 then redis.call('HSET', meta_key, 'pending', known) end
return {}
