-- Notes that the archive has lost a part of what it was known to hold, once all members are noted for the next snapshot.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, the archived that was seen, what the archive holds
-- returns  {'lowered', 1, or 0 when another rev is archived by now} | NOTLOADED
-- atomic   the check and the change
local meta_key, seen, holds = KEYS[1], ARGV[3], ARGV[4]
local found, archived = current('archived')
if not found then return 'NOTLOADED' end
if archived ~= seen then return {'lowered', 0} end
redis.call('HSET', meta_key, 'archived', holds)
redis.call('HDEL', meta_key, 'hidden') -- numbers may come again, so all flags have to be copied (hide.lua)
return {'lowered', 1}
