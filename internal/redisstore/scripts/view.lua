-- Reads pages of the board and members with their ranks, unless the guild is as the caller knows it.
--
-- KEYS     meta xp entry dirty
-- ARGV     incarnation, the epoch and the rev that are known (or '' twice), how many rows a page has, how many pages, their
--          numbers..., members...
-- returns  {epoch, rev, how many members there are, {page, ...}, {xp | nil, ...}, {rank from 0 | nil, ...}, {entry | nil,
--          ...}}, where a page is {epoch, rev, {member, xp, ...}, {entry, ...}, its number}, and one past the last page is the last one; {epoch, rev, how many members there are} when nothing changed | NOTLOADED
-- atomic   all is of one moment; nothing is changed
if not loaded() then return 'NOTLOADED' end
local total = redis.call('ZCARD', KEYS[2])
if epoch == ARGV[2] and rev == ARGV[3] then return {epoch, rev, total} end

local size, count = tonumber(ARGV[4]), tonumber(ARGV[5])
local last = math.max(math.ceil(total / size), 1)
local pages = {}
for i = 1, count do
  local number = math.min(tonumber(ARGV[5 + i]), last)
  local rows = redis.call('ZREVRANGE', KEYS[2], (number - 1) * size, number * size - 1, 'WITHSCORES')
  local members = {}
  for j = 1, #rows, 2 do members[#members + 1] = rows[j] end
  pages[i] = {epoch, rev, rows, values('HMGET', KEYS[3], members, 1), number}
end

local first = 6 + count
local xp, entry = entries(2, ARGV, first)
local rank = {}
for i = 1, #xp do rank[i] = xp[i] and redis.call('ZREVRANK', KEYS[2], ARGV[first + i - 1]) end
return {epoch, rev, total, pages, xp, rank, entry}
