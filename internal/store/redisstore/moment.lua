-- Reads the clock of a guild's server, and how far the guild is.
--
-- KEYS     meta
-- returns  {now in ms, 0 it is not loaded, 1 it was not verified on this life of the server, 2 it is in use; then incarnation, epoch, rev,
--          and below which `archived` may lack changes (read_changes.lua), and 'boards' of meta (counting.lua) or ''}
-- atomic   all is of one moment; nothing is changed
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'doubt', 'boards')
if not meta[1] then return {now(), 0, 0, 0, 0, 0, ''} end
return {now(), meta[2] == SERVER and 2 or 1, meta[1], meta[3], meta[4], meta[5] or 0, meta[6] or ''}
