-- Reads the clock of a guild's server, and how far the guild is.
--
-- KEYS     meta
-- returns  {'now', in ms, 'state', 0 it is not loaded, 1 it was not verified on this life of the server, 2 it is in use}; of a guild
--          that is loaded also {..., 'incarnation', 'epoch', 'rev', 'doubt', below which `archived` may lack changes
--          (read_changes.lua), 'boards', of meta (boards.lua) or ''}
-- atomic   all is of one moment; nothing is changed
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'doubt', 'boards')
local incarnation, server, epoch, rev, doubt, boards = unpack(meta, 1, 6)
if not incarnation then return {'now', now(), 'state', 0} end
return {'now', now(), 'state', server == SERVER and 2 or 1, 'incarnation', incarnation, 'epoch', epoch, 'rev', rev, 'doubt', doubt or 0,
  'boards', boards or ''}
