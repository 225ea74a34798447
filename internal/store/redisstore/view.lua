-- Reads pages of the board and members with their ranks, unless the guild is as the caller knows it.
--
-- KEYS     meta xp entry
-- ARGV     incarnation, the epoch and the rev that are known (or '' twice), how many rows a page has, how many pages, their
--          numbers..., members (at most 1000)
-- returns  {epoch, rev, how many members there are, {page, ...}, members as in members.lua}, where a page is {epoch, rev,
--          {member, xp, ...}, {entry, ...}, its number}, and one past the last page is the last one; {epoch, rev, how many
--          members there are} when nothing changed | NOTLOADED
-- atomic   all is of one moment; nothing is changed
local found, epoch, rev = loaded('epoch', 'rev')
if not found then return 'NOTLOADED' end
local total = redis.call('ZCARD', KEYS[2])
if epoch == ARGV[2] and rev == ARGV[3] then return {epoch, rev, total} end

local size, count = tonumber(ARGV[4]), tonumber(ARGV[5])
local last = math.max(math.ceil(total / size), 1)
local pages = {}
for i = 1, count do
  local number = math.min(tonumber(ARGV[5 + i]), last)
  local rows = total == 0 and {} or redis.call('ZREVRANGE', KEYS[2], (number - 1) * size, math.min(number * size, total) - 1, 'WITHSCORES')
  local members = {}
  for j = 1, #rows, 2 do members[#members + 1] = rows[j] end
  pages[i] = {epoch, rev, rows, values('HMGET', KEYS[3], members, 1), number}
end
return {epoch, rev, total, pages, ranked(6 + count)}
