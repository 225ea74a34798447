-- Counts the members of a guild that wait for a snapshot. The guild need not be verified.
--
-- KEYS     meta dirty
-- ARGV     none
-- returns  {'members', how many, 'age', of the oldest change among them in ms}
-- atomic   both are of one moment; nothing is changed
local meta_key, dirty_key = unpack(KEYS)
local count = redis.call('ZCARD', dirty_key)
if count == 0 then return {'members', 0, 'age', 0} end
local time = now()
return {'members', count, 'age', math.max(time - (redis.call('HGET', meta_key, 'since') or time), 0)}
