-- Claims the name of a request for a guild.
--
-- KEYS     the claim
-- ARGV     guild, the guild that it may be taken from (or an empty text), how long it lasts in ms
-- returns  {} | {the guild that holds it}
-- atomic   the check and the claim
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and holder ~= ARGV[2] then return {holder} end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return {}
