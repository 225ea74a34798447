-- Reads a member's position on the board of all time and on those of running periods.
--
-- KEYS     meta xp entry off hidden; if any period is wanted, also the boards of the day, week, month and season
-- ARGV     incarnation, flags (loaded.lua), member; for each of the four the period's days as in boards.lua, or '' if it is not wanted
-- returns  {'of', how many are on the board, 'flags' of a hidden member | nil, 'member', as in ranked.lua, 'ahead', {member, XP}, empty
--          for the first, 'periods', {{'gained', gain | nil, 'rank', rank from 0, of one on the board} for each of the four}} | NOTLOADED |
--          NOBOARD as in standings.lua
-- atomic   all is of one moment; nothing is changed
local _, xp_key, entry_key, off_key, hidden_key = unpack(KEYS)
local _, _, member = unpack(ARGV)
local found, boards = loaded('boards')
if not found then return 'NOTLOADED' end

local one = ranked(xp_key, off_key, entry_key, {member})[1]
local rank, ahead, periods = one[4], {}, {}
if rank and rank > 0 then ahead = redis.call('ZREVRANGE', xp_key, rank - 1, rank - 1, 'WITHSCORES') end
local newest = tonumber(string.match(boards or '', '^%d+') or '')
for place = 1, 4 do
  local days, gained = ARGV[3 + place], false
  if days ~= '' then
    local begins = string.match(days, '^%d+') + 0
    local there = boards and ({string.match(boards, '^%d+ (%S+) (%S+) (%S+) (%S+)$')})[place] == days
    if boards and not there and (not newest or begins <= newest) then return 'NOBOARD' end
    gained = there and rank and redis.call('ZMSCORE', KEYS[5 + place], member)[1]
  end
  local off = gained and gained + 0 < -2 ^ 51 -- as in boards.lua
  periods[place] = {'gained', off and string.format('%.0f', gained + 2 ^ 52) or gained,
    'rank', gained and not off and redis.call('ZREVRANK', KEYS[5 + place], member)}
end
return {'of', redis.call('ZCARD', xp_key), 'flags', redis.call('HGET', hidden_key, member), 'member', one, 'ahead', ahead,
  'periods', periods}
