-- Removes a guild that nobody uses and of which the archive holds everything. Its log of events stays for an hour, with a mark by which the
-- next load sees that nothing is missing in it, and so do the records of its requests for as long as they last.
--
-- KEYS     meta lock dirty journal, events, records, then all keys of its members, which may name some of these again
-- ARGV     incarnation, epoch, the archive's archived, for how long no use must have been noted, how long a record lasts, in ms, and the token of one
--          who has frozen the guild and found all of it archived, or ''
-- returns  {1: it is gone, or 0: it has changed or is used} | NOTLOADED
-- atomic   all checks and the removal, so a request finds the guild as it was, or finds none and loads it
if not current() then return 'NOTLOADED' end
local frozen = ARGV[6] ~= '' and redis.call('GET', KEYS[2]) == ARGV[6] .. '@' .. SERVER
if not frozen and (ARGV[6] ~= '' or rev ~= ARGV[3] or not cold(tonumber(ARGV[4]), rev, archived, pending, redis.call('HGET', KEYS[1], 'used'))) then return {0} end
if frozen then redis.call('DEL', KEYS[2]) end
redis.call('UNLINK', KEYS[1], KEYS[4], unpack(KEYS, 7))
if redis.call('XLEN', KEYS[5]) == 0 then
  redis.call('UNLINK', KEYS[5])
else
  redis.call('XADD', KEYS[5], '*', 'e', ARGV[2], 's', SERVER)
  redis.call('PEXPIRE', KEYS[5], 3660000) -- the minute on top is for those who judge by the time of an event (package events)
end
if redis.call('HLEN', KEYS[6]) > 1 then
  local ask = string.match(redis.call('HGET', KEYS[6], '') or '', '^%d+ (%+?%d+)')
  redis.call('HSET', KEYS[6], '', table.concat({ARGV[1], ask or now() + ARGV[5], ARGV[2], SERVER}, ' '))
  redis.call('PEXPIRE', KEYS[6], ARGV[5])
else
  redis.call('UNLINK', KEYS[6])
end
return {1}
