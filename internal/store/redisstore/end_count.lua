-- Notes that all is added up that was gained in a period.
--
-- KEYS     meta
-- ARGV     incarnation, which kind it is and the period's days as in period.lua
-- returns  {} | NOTLOADED | NOTCOUNTED as in count.lua
-- atomic   all of it; from now on the period's board is read
local found, gains = loaded('gains')
if not found then return 'NOTLOADED' end
local holds = holds(gains, tonumber(ARGV[2]), ARGV[3])
if holds == true then return {} end
if holds ~= '?' then return 'NOTCOUNTED' end
local words = {string.match(gains, '^(%d+) (%S+) (%S+) (%S+) (%S+)$')}
words[1 + tonumber(ARGV[2])] = ARGV[3]
redis.call('HSET', KEYS[1], 'gains', table.concat(words, ' '))
return {}
