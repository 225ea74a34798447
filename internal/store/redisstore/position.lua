-- Reads where members stand: on the board of all time and on those of running periods.
--
-- KEYS     meta xp entry; where a period is asked for also the boards of the day, week, month and season
-- ARGV     incarnation; for each of the four the period's days as in running.lua, or '' where it is not asked for; members (at most 100)
-- returns  {how many members are on the board; for each: xp | nil, rank from 0 | nil, entry | nil, who is ahead | nil, what that one has | nil,
--          and for each of the four gain | nil, rank from 0 (of one whose gain is above 0)} | NOTLOADED | NOBOARD as in standings.lua
-- atomic   all is of one moment; nothing is changed
local first = 6 -- of the members in ARGV
local found, boards = loaded('boards')
if not found then return 'NOTLOADED' end
local there = {}
for place = 1, 4 do
  if ARGV[1 + place] ~= '' then
    there[place] = running(boards, place, ARGV[1 + place])
    if there[place] == nil then return 'NOBOARD' end
  end
end
local all, known = {redis.call('ZCARD', KEYS[2])}, ranked(first)
for i = 1, #ARGV - first + 1 do
  local at, member, rank = 13 * i - 12, ARGV[first + i - 1], known[3 * i - 1]
  all[at + 1], all[at + 2], all[at + 3] = known[3 * i - 2], rank, known[3 * i]
  local ahead = rank and rank > 0 and redis.call('ZREVRANGE', KEYS[2], rank - 1, rank - 1, 'WITHSCORES') or {}
  all[at + 4], all[at + 5] = ahead[1] or false, ahead[2] or false
  for place = 1, 4 do
    local gain = rank and there[place] and redis.call('ZMSCORE', KEYS[3 + place], member)[1] or false
    all[at + 4 + 2 * place] = gain
    all[at + 5 + 2 * place] = gain and redis.call('ZREVRANK', KEYS[3 + place], member)
  end
end
return all
