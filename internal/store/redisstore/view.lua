-- Reads a page of the board and members with their ranks, unless the caller knows the guild's current version.
--
-- KEYS     meta xp entry
-- ARGV     incarnation, flags (loaded.lua), the epoch and the rev that the caller knows (or '' twice), how many rows a page has, the
--          number of the page or 0, members (at most 100)
-- returns  {'epoch', epoch, 'rev', rev, 'total', how many are on the board}, and for a version that the caller does not know also {...,
--          'number', the page's, 'rows', {member, XP, ...}, 'entries', {entry, ...}, 'members', as in ranked.lua} | NOTLOADED. A number
--          past the last page gets the last page
-- atomic   all is of one moment; nothing is changed
local _, xp_key, entry_key = unpack(KEYS)
local _, _, known_epoch, known_rev, size, number = unpack(ARGV, 1, 6)
local members = {unpack(ARGV, 7)}
local found, epoch, rev = loaded('epoch', 'rev')
if not found then return 'NOTLOADED' end
local total = redis.call('ZCARD', xp_key)
if epoch == known_epoch and rev == known_rev then return {'epoch', epoch, 'rev', rev, 'total', total} end

local rows, listed = {}, {}
number = math.min(number, math.max(math.ceil(total / size), 1))
if number > 0 then rows = redis.call('ZREVRANGE', xp_key, (number - 1) * size, number * size - 1, 'WITHSCORES') end
for j = 1, #rows, 2 do listed[#listed + 1] = rows[j] end
return {'epoch', epoch, 'rev', rev, 'total', total, 'number', number, 'rows', rows, 'entries', values('HMGET', entry_key, listed),
  'members', ranked(xp_key, nil, entry_key, members)}
