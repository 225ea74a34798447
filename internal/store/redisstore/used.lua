-- Notes the time of a loaded guild's last use.
--
-- KEYS     meta
-- ARGV     none
-- returns  {}
-- atomic   the check and the note
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'used', now()) end
return {}
