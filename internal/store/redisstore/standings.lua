-- Reads a stretch of the board of a running period: members whose gains are above 0.
--
-- KEYS     meta xp entry, the gains of the period's kind
-- ARGV     incarnation, which kind it is and the period's days as in period.lua, first and last position (from 0, both included)
-- returns  {epoch, rev, how many members there are, the sum of their gains, {member, gain, ...}, {xp, ...}, {entry, ...}} | NOTLOADED |
--          NOTCOUNTED: what was gained before is to be added up first (count.lua)
-- atomic   all is of one moment; nothing is changed
local found, epoch, rev, gains, sum = loaded('epoch', 'rev', 'gains', SUMS[tonumber(ARGV[2])])
if not found then return 'NOTLOADED' end
local holds = holds(gains, tonumber(ARGV[2]), ARGV[3])
if holds == '' then return {epoch, rev, 0, 0, {}, {}, {}} end
if holds ~= true then return 'NOTCOUNTED' end
local total = redis.call('ZCOUNT', KEYS[4], '(0', '+inf')
local last, rows = math.min(tonumber(ARGV[5]), total - 1), {}
if last >= tonumber(ARGV[4]) then rows = redis.call('ZREVRANGE', KEYS[4], ARGV[4], last, 'WITHSCORES') end
local members = {}
for i = 1, #rows, 2 do members[#members + 1] = rows[i] end
local xp, entry = entries(2, members, 1)
return {epoch, rev, total, sum or '0', rows, xp, entry}
