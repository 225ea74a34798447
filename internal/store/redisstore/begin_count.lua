-- Begins to add up what was gained in a running period before it was counted: from now on changes are counted in its sorted set as well.
--
-- KEYS     meta, the gains of the period's kind
-- ARGV     incarnation, which kind it is and the period's days as in period.lua
-- returns  {1 when there is something to add up, else 0} | NOTLOADED
-- atomic   all of it
local found, gains = loaded('gains')
if not found then return 'NOTLOADED' end
local holds = holds(gains, tonumber(ARGV[2]), ARGV[3])
if holds == true or holds == '' then return {0} end
if not holds then
  redis.call('DEL', KEYS[2])
  redis.call('ZADD', KEYS[2], -1, '')
  local words = {string.match(gains, '^(%d+) (%S+) (%S+) (%S+) (%S+)$')}
  words[1 + tonumber(ARGV[2])] = ARGV[3] .. '?'
  redis.call('HSET', KEYS[1], 'gains', table.concat(words, ' '), SUMS[tonumber(ARGV[2])], 0)
end
return {1}
