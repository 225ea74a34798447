-- Freezes a loaded guild: for reads and changes it is not loaded, and nobody can load it. Only the snapshot writer still works on it (epoch.lua,
-- read_changes.lua).
--
-- KEYS     meta lock
-- ARGV     incarnation, token, how long it lasts in ms
-- returns  {} | NOTLOADED | HYDRATIONLOST: it is frozen already
-- atomic   the check and the change
if not loaded() then return 'NOTLOADED' end
local lock = redis.call('GET', KEYS[2])
if lock and string.sub(lock, -#SERVER - 1) == '@' .. SERVER then return 'HYDRATIONLOST' end
redis.call('SET', KEYS[2], ARGV[2] .. '@' .. SERVER, 'PX', ARGV[3])
redis.call('HSET', KEYS[1], 'server', FROZEN)
return {}
