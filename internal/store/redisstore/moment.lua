-- Reads the clock of a guild's server, and the guild's state.
--
-- KEYS     meta
-- returns  {'now', in ms, 'state', 0 not loaded, 1 not verified on this life of the server, 2 in use}; for a loaded guild also
--          {..., 'incarnation', 'epoch', 'rev', 'doubt', below which `archived` may lack changes (read_changes.lua), 'boards', meta's
--          (boards.lua) or ''}
-- atomic   all is of one moment; nothing is changed
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', 'rev', 'doubt', 'boards')
local incarnation, server, epoch, rev, doubt, boards = unpack(meta, 1, 6)
if not incarnation then return {'now', now(), 'state', 0} end
return {'now', now(), 'state', server == SERVER and 2 or 1, 'incarnation', incarnation, 'epoch', epoch, 'rev', rev, 'doubt', doubt or 0,
  'boards', boards or ''}
