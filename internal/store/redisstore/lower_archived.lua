-- Notes that the archive has lost a part of what it was known to hold, once all members are noted for the next snapshot.
--
-- KEYS     meta
-- ARGV     incarnation, epoch, the archived that was seen, what the archive holds
-- returns  {1} | {0} when another rev is archived by now | NOTLOADED
-- atomic   the check and the change
if not current() then return 'NOTLOADED' end
if archived ~= ARGV[3] then return {0} end
redis.call('HSET', KEYS[1], 'archived', ARGV[4])
return {1}
