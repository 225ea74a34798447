-- Reads a stretch of the board of a running period: members whose gains are above 0.
--
-- KEYS     meta xp entry, the board
-- ARGV     incarnation, which of the four it is and the period's days as in running.lua, first and last position (from 0, both included);
--          or '', how many members, and who is in their middle
-- returns  {epoch, rev, how many members there are, the sum of their gains, the first position, {member, gain, ...}, {xp, ...}, {entry, ...}} |
--          NOTLOADED | NOMEMBER | NOTPRESENT | NOBOARD: it is not there (running.lua)
-- atomic   all is of one moment; nothing is changed
local place = tonumber(ARGV[2])
local found, epoch, rev, boards, sum = loaded('epoch', 'rev', 'boards', ({'gained:day', 'gained:week', 'gained:month', 'gained:season'})[place])
if not found then return 'NOTLOADED' end
local there, set = running(boards, place, ARGV[3]), KEYS[4]
if there == nil then return 'NOBOARD' end
local total = there and redis.call('ZCOUNT', set, '(0', '+inf') or 0
local first, last, rows = tonumber(ARGV[4]), tonumber(ARGV[5]), {}
if ARGV[6] then
  first, last = around(set, total, ARGV[6], last)
  if not first then return absent(redis.call('HGET', KEYS[3], ARGV[6])) and 'NOTPRESENT' or 'NOMEMBER' end
end
last = math.min(last, total - 1)
if last >= first then rows = redis.call('ZREVRANGE', set, first, last, 'WITHSCORES') end
local members = {}
for i = 1, #rows, 2 do members[#members + 1] = rows[i] end
local xp, entry = entries(2, members, 1)
return {epoch, rev, total, there and sum or '0', first, rows, xp, entry}
