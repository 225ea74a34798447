-- Reads a stretch of the board.
--
-- KEYS     meta xp entry
-- ARGV     incarnation, first and last position (from 0, both included); or incarnation, '', how many members, and who is in their middle
-- returns  {epoch, rev, {member, xp, member, xp, ...}, {entry, ...}}, around a member also {..., the first position, how many members there
--          are} | NOTLOADED | NOMEMBER | NOTPRESENT
-- atomic   rows and version are of one moment; nothing is changed
local found, epoch, rev = loaded('epoch', 'rev')
if not found then return 'NOTLOADED' end
local first, last, total = ARGV[2], ARGV[3], nil
if ARGV[4] then
  total = redis.call('ZCARD', KEYS[2])
  first, last = around(KEYS[2], total, ARGV[4], tonumber(last))
  if not first then return absent(redis.call('HGET', KEYS[3], ARGV[4])) and 'NOTPRESENT' or 'NOMEMBER' end
end
local rows = redis.call('ZREVRANGE', KEYS[2], first, last, 'WITHSCORES')
local members = {}
for i = 1, #rows, 2 do members[#members + 1] = rows[i] end
local entries = values('HMGET', KEYS[3], members, 1)
if total then return {epoch, rev, rows, entries, first, total} end
return {epoch, rev, rows, entries}
