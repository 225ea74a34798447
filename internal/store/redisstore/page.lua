-- Reads a stretch of the board.
--
-- KEYS     meta xp entry
-- ARGV     incarnation, flags (loaded.lua), first position (from 0), how many members, and '' or the member in their middle, which
--          replaces the first position
-- returns  {'epoch', epoch, 'rev', rev, 'first', first position, 'total', how many are on the board, 'rows', {member, XP, ...},
--          'entries', {entry, ...}} | NOTLOADED | NOMEMBER | NOTPRESENT
-- atomic   rows and version are of one moment; nothing is changed
local _, xp_key, entry_key = unpack(KEYS)
local _, _, first, limit, middle = unpack(ARGV)
local found, epoch, rev = loaded('epoch', 'rev')
if not found then return 'NOTLOADED' end

local total, members = redis.call('ZCARD', xp_key), {}
if middle ~= '' then
  local rank = redis.call('ZREVRANK', xp_key, middle)
  local _, _, absent = fields(not rank and redis.call('HGET', entry_key, middle))
  if not rank then return absent == 'a' and 'NOTPRESENT' or 'NOMEMBER' end
  first = math.max(math.min(rank - math.floor(limit / 2), total - limit), 0) -- an even limit shows one more above the member than below
end
local rows = redis.call('ZREVRANGE', xp_key, first, first + limit - 1, 'WITHSCORES')
for i = 1, #rows, 2 do members[#members + 1] = rows[i] end
return {'epoch', epoch, 'rev', rev, 'first', first, 'total', total, 'rows', rows, 'entries', values('HMGET', entry_key, members)}
