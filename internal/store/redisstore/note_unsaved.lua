-- Notes members for the next snapshot that have not changed, there or not, and tells what the archive is known to hold.
--
-- KEYS     meta dirty
-- ARGV     incarnation, epoch, members...
-- returns  {archived} | NOTLOADED
-- atomic   the check, the note and the guild's rev, so that a batch that was read before does not end what is noted (end_changes.lua)
if not current() then return 'NOTLOADED' end
if #ARGV > 2 then
  if not redis.call('HGET', KEYS[1], 'since') then redis.call('HSET', KEYS[1], 'since', now()) end
  local counted, noted = string.format('%.0f', tonumber(rev) + 1), {}
  for i = 3, #ARGV do noted[#noted + 1], noted[#noted + 2] = counted, ARGV[i] end
  redis.call('HSET', KEYS[1], 'rev', counted, 'doubt', counted) -- who waited already is noted by a later rev now (read_changes.lua)
  redis.call('ZADD', KEYS[2], unpack(noted))
end
return {archived}
