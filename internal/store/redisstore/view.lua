-- Reads pages of the board and members with their ranks, unless the guild is as the caller knows it.
--
-- KEYS     meta xp entry
-- ARGV     incarnation, flags (loaded.lua), the epoch and the rev that are known (or '' twice), how many rows a page has, how many
--          pages, their numbers..., members (at most 1000)
-- returns  {'epoch', epoch, 'rev', rev, 'total', how many are on the board}, and when that is not what is known also {..., 'pages',
--          {{'number', its number, 'rows', {member, XP, ...}, 'entries', {entry, ...}}, ...}, 'members', as in ranked.lua}; a page past
--          the last page is the last one | NOTLOADED
-- atomic   all is of one moment; nothing is changed
local _, xp_key, entry_key = unpack(KEYS)
local _, _, known_epoch, known_rev, size, count = unpack(ARGV, 1, 6)
local numbers, members = {unpack(ARGV, 7, 6 + count)}, {unpack(ARGV, 7 + count)}
local found, epoch, rev = loaded('epoch', 'rev')
if not found then return 'NOTLOADED' end
local total = redis.call('ZCARD', xp_key)
if epoch == known_epoch and rev == known_rev then return {'epoch', epoch, 'rev', rev, 'total', total} end

local last, pages = math.max(math.ceil(total / size), 1), {}
for i = 1, #numbers do
  local number, listed = math.min(numbers[i], last), {}
  local rows = redis.call('ZREVRANGE', xp_key, (number - 1) * size, number * size - 1, 'WITHSCORES')
  for j = 1, #rows, 2 do listed[#listed + 1] = rows[j] end
  pages[i] = {'number', number, 'rows', rows, 'entries', values('HMGET', entry_key, listed)}
end
return {'epoch', epoch, 'rev', rev, 'total', total, 'pages', pages, 'members', ranked(xp_key, nil, entry_key, members)}
