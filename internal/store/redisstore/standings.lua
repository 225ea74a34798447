-- Reads a stretch of the board of a running period: members whose gains are above 0.
--
-- KEYS     meta xp entry, gains of the day, week, month and season, notes
-- ARGV     incarnation, which of the four it is and the period's days as in settle.lua, how many notes it may take in, first and last position
--          (from 0, both included); or '', how many members, and who is in their middle
-- returns  {epoch, rev, how many members there are, the sum of their gains, the first position, {member, gain, ...}, {xp, ...}, {entry, ...}} |
--          NOTLOADED | NOMEMBER | NOTPRESENT | NOTCOUNTED: the board is not kept (count.lua) | NOTSETTLED: there are too many notes (settle.lua)
-- atomic   all is of one moment, and so is what is taken in
local place = tonumber(ARGV[2])
local found, epoch, rev, gains = loaded('epoch', 'rev', 'gains')
if not found then return 'NOTLOADED' end
if keeps(gains, place, ARGV[3]) ~= true then return 'NOTCOUNTED' end
local notes = redis.call('HLEN', KEYS[8]) - 1
if notes > tonumber(ARGV[4]) then return 'NOTSETTLED' end
if notes > 0 then settle(gains, 4, redis.call('HGETALL', KEYS[8])) end
local set = KEYS[3 + place]
local total, sum = redis.call('ZCOUNT', set, '(0', '+inf'), redis.call('HGET', KEYS[1], SUMS[place])
local first, last, rows = tonumber(ARGV[5]), tonumber(ARGV[6]), {}
if ARGV[7] then
  first, last = around(set, total, ARGV[7], last)
  if not first then return absent(redis.call('HGET', KEYS[3], ARGV[7])) and 'NOTPRESENT' or 'NOMEMBER' end
end
last = math.min(last, total - 1)
if last >= first then rows = redis.call('ZREVRANGE', set, first, last, 'WITHSCORES') end
local members = {}
for i = 1, #rows, 2 do members[#members + 1] = rows[i] end
local xp, entry = entries(2, members, 1)
return {epoch, rev, total, sum or '0', first, rows, xp, entry}
