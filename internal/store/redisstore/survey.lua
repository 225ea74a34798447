-- Looks at a guild for the snapshot writer: does something of it wait to be archived, or else, does nobody use it?
--
-- KEYS     meta lock dirty journal
-- ARGV     for how long no use must have been noted, in ms; 0 does not ask
-- returns  {} | {1}: it has changed | {2}: it is only to be verified | {0, incarnation, epoch, archived}: it is
--          cold | {3, incarnation, epoch, archived}: neither
-- atomic   all is of one moment
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'epoch', 'server', 'rev', 'archived', 'pending', 'used')
if not meta[1] then return {} end
if redis.call('ZCARD', KEYS[3]) > 0 or redis.call('XLEN', KEYS[4]) > 0 then return {1} end
if meta[3] ~= SERVER then return {2} end
local idle = tonumber(ARGV[1])
return {idle > 0 and cold(idle, unpack(meta, 4, 7)) and 0 or 3, meta[1], meta[2], meta[5]}
