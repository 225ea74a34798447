-- Claims the name of a request for a guild, each time under a higher number.
--
-- KEYS     the claim: guild and number, with a space between
-- ARGV     guild, how long the claim lasts in ms, the guild and the number that it may be taken from (empty: none)
-- returns  {number} | {number, guild} of another guild's claim, which stands
-- atomic   the check and the claim
local holder, number = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%d+)$')
if holder and holder ~= ARGV[1] and not (holder == ARGV[3] and number == ARGV[4]) then return {number, holder} end
number = (tonumber(number) or 0) + 1
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. number, 'PX', ARGV[2])
return {number}
