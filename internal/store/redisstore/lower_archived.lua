-- Lowers `archived` after the archive lost a part of it. The caller has noted all members for the next snapshot before.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, the `archived` that the caller read, the archive's rev
-- returns  {'lowered', 1, or 0 when `archived` has changed since} | NOTLOADED
-- atomic   the check and the change
local meta_key, seen, holds = KEYS[1], ARGV[3], ARGV[4]
local found, archived = current('archived')
if not found then return 'NOTLOADED' end
if archived ~= seen then return {'lowered', 0} end
redis.call('HSET', meta_key, 'archived', holds)
redis.call('HDEL', meta_key, 'hidden') -- the archive may use numbers again, so copy all flags again (hide.lua)
return {'lowered', 1}
