-- Tells the snapshot writer if a guild has changes to archive, and if not, if it is idle.
--
-- KEYS     meta lock dirty journal
-- ARGV     the ms without use after which a guild is cold; 0: no guild is
-- returns  {} when it is not loaded | {'state', 'changed'} | {'state', 'unverified'}: it is only to be verified |
--          {'state', 'cold' or 'warm', 'incarnation', incarnation, 'epoch', epoch, 'archived', rev}
-- atomic   all is of one moment
local meta_key, lock_key, dirty_key, journal_key = unpack(KEYS)
local idle = ARGV[1] + 0
local meta = redis.call('HMGET', meta_key, 'incarnation', 'server', 'epoch', 'rev', 'archived', 'pending', 'used')
local incarnation, server, epoch, rev, archived, pending, used = unpack(meta, 1, 7)
if not incarnation then return {} end
if rev ~= archived or redis.call('ZCARD', dirty_key) > 0 or redis.call('XLEN', journal_key) > 0 then return {'state', 'changed'} end
if server ~= SERVER then return {'state', 'unverified'} end

-- A `pending` of at most `archived` was left by a writer that died.
local busy = pending and pending + 0 > archived + 0 or redis.call('EXISTS', lock_key) > 0
local cold = idle > 0 and not busy and now() - (used or 0) >= idle
return {'state', cold and 'cold' or 'warm', 'incarnation', incarnation, 'epoch', epoch, 'archived', archived}
