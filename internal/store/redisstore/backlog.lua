-- Tells how much of a guild waits for a snapshot, whether it was verified or not.
--
-- KEYS     meta dirty, the prefix of the names of sets aside
-- ARGV     none
-- returns  {members, age of the oldest change among them in ms}
-- atomic   both are of one moment; nothing is changed
local meta = redis.call('HMGET', KEYS[1], 'flushing', 'flushingsince', 'since')
local count = redis.call('SCARD', KEYS[2])
if meta[1] then count = count + redis.call('SCARD', KEYS[3] .. meta[1]) end
if count == 0 then return {0, 0} end
local time = now()
return {count, math.max(time - tonumber(meta[2] or meta[3] or time), 0)}
