-- Tells how much of a guild waits for a snapshot, whether it was verified or not.
--
-- KEYS     meta dirty
-- ARGV     none
-- returns  {members, age of the oldest change among them in ms}
-- atomic   both are of one moment; nothing is changed
local count = redis.call('ZCARD', KEYS[2])
if count == 0 then return {0, 0} end
local time = now()
return {count, math.max(time - tonumber(redis.call('HGET', KEYS[1], 'since') or time), 0)}
