-- Begins to make the board of a running period: from now on changes are noted for it (counting.lua).
--
-- KEYS     meta, gains of the day, week, month and season, notes
-- ARGV     incarnation, which of the four it is and the period's days as in settle.lua
-- returns  {1 when its members are to be counted, else 0: it is kept already} | NOTLOADED
-- atomic   all of it
local place, set = tonumber(ARGV[2]), KEYS[1 + tonumber(ARGV[2])]
local found, gains = loaded('gains')
if not found then return 'NOTLOADED' end
local keeps = keeps(gains, place, ARGV[3])
if keeps == true then return {0} end
if not keeps then
  local words = {string.match(gains or NOTHING_KEPT, FOUR)}
  if table.concat(words, ' ') == NOTHING_KEPT then redis.call('UNLINK', KEYS[6]) end -- what was noted for boards that were not kept any longer
  redis.call('HSET', KEYS[6], '', '')
  redis.call('UNLINK', set)
  for i = 2, 5 do redis.call('ZADD', KEYS[i], -1, '') end
  words[place] = ARGV[3] .. '?'
  redis.call('HSET', KEYS[1], 'gains', table.concat(words, ' '), SUMS[place], 0)
end
return {1}
