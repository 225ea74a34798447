-- Notes members for the next snapshot that have not changed, there or not, and tells what the archive is known to hold.
--
-- KEYS     meta dirty
-- ARGV     incarnation, epoch, members...
-- returns  {archived} | NOTLOADED
-- atomic   the check and the note
if not current() then return 'NOTLOADED' end
if #ARGV > 2 then
  if not redis.call('HGET', KEYS[1], 'since') then redis.call('HSET', KEYS[1], 'since', now()) end
  redis.call('SADD', KEYS[2], unpack(ARGV, 3))
end
return {archived}
