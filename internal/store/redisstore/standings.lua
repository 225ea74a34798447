-- Reads a stretch of the board of a running period. It ranks members whose gains are above 0.
--
-- KEYS     meta xp entry, the board
-- ARGV     incarnation, flags (loaded.lua), place (1 the day to 4 the season) and days of the period as in boards.lua, first position
--          (from 0), how many members, and '' or the member in their middle, which replaces the first position
-- returns  {'epoch', epoch, 'rev', rev, 'members', how many there are, 'gained', the sum of their gains, 'first', first position,
--          'rows', {member, gain, ...}, 'xp', {XP, ...}, 'entries', {entry, ...}} | NOTLOADED | NOMEMBER | NOTPRESENT |
--          NOBOARD: the board is missing, and the guild has to be loaded with it
-- atomic   all is of one moment; nothing is changed
local _, xp_key, entry_key, board_key = unpack(KEYS)
local _, _, place, days, first, limit, middle = unpack(ARGV)
local found, epoch, rev, boards, gained = loaded('epoch', 'rev', 'boards', 'gained:' .. place)
if not found then return 'NOTLOADED' end

-- A period in which nothing was counted yet has no board.
local newest, begins = tonumber(string.match(boards or '', '^%d+') or ''), string.match(days, '^%d+') + 0
local there = boards and ({string.match(boards, '^%d+ (%S+) (%S+) (%S+) (%S+)$')})[place + 0] == days
if boards and not there and (not newest or begins <= newest) then return 'NOBOARD' end

local total, rows, members = there and redis.call('ZCOUNT', board_key, '(0', '+inf') or 0, {}, {}
if middle ~= '' then
  local rank = there and redis.call('ZREVRANK', board_key, middle)
  if not rank or rank >= total then
    local _, _, absent = fields(redis.call('HGET', entry_key, middle))
    return absent == 'a' and 'NOTPRESENT' or 'NOMEMBER'
  end
  first = math.max(math.min(rank - math.floor(limit / 2), total - limit), 0) -- an even limit shows one more above the member than below
end
local last = math.min(first + limit, total) - 1
if last >= first + 0 then rows = redis.call('ZREVRANGE', board_key, first, last, 'WITHSCORES') end
for i = 1, #rows, 2 do members[#members + 1] = rows[i] end
return {'epoch', epoch, 'rev', rev, 'members', total, 'gained', there and gained or 0, 'first', first, 'rows', rows,
  'xp', values('ZMSCORE', xp_key, members), 'entries', values('HMGET', entry_key, members)}
