-- Notes that the board of a period is made.
--
-- KEYS     meta
-- ARGV     incarnation, which of the four it is and the period's days as in settle.lua
-- returns  {} | NOTLOADED | NOTCOUNTED as in count.lua
-- atomic   all of it; from now on the board is read
local found, gains = loaded('gains')
if not found then return 'NOTLOADED' end
local keeps = keeps(gains, tonumber(ARGV[2]), ARGV[3])
if keeps == true then return {} end
if not keeps then return 'NOTCOUNTED' end
local words = {string.match(gains, FOUR)}
words[tonumber(ARGV[2])] = ARGV[3]
redis.call('HSET', KEYS[1], 'gains', table.concat(words, ' '))
return {}
