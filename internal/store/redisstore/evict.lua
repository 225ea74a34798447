-- Removes a guild that nobody uses and of which the archive holds everything. Its log of events stays, with a mark by which the
-- next load sees that nothing is missing in it, and so do the records of its requests.
--
-- KEYS     meta lock dirty events, then all keys of its members, which may name some of these again
-- ARGV     incarnation, epoch, the archive's archived, for how long no use must have been noted, in ms
-- returns  {1: it is gone, or 0: it has changed or is used} | NOTLOADED
-- atomic   all checks and the removal, so a request finds the guild as it was, or finds none and loads it
if not current() then return 'NOTLOADED' end
local more = redis.call('HMGET', KEYS[1], 'raising', 'used')
if rev ~= ARGV[3] or not cold(tonumber(ARGV[4]), rev, archived, pending, more[1], more[2]) then return {0} end
redis.call('UNLINK', KEYS[1], unpack(KEYS, 5)) -- first, or a full memory would keep it (put.lua)
if redis.call('EXISTS', KEYS[4]) == 1 then redis.call('XADD', KEYS[4], '*', 'e', ARGV[2], 's', SERVER) end
return {1}
