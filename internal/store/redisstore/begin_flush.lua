-- Sets a guild's changed members aside for the snapshot writer, or finds those that a writer before left behind.
--
-- KEYS     meta dirty, the prefix of the names of sets aside
-- ARGV     none
-- returns  {incarnation, epoch, number of the set, how many are in it} | {incarnation, epoch} when nothing changed | {incarnation} when
--          the guild was not verified on this life of the server | {} when it is not loaded
-- atomic   the rename and its note in meta, so that a set aside is never lost from sight
local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'epoch', 'rev', 'flushing', 'since', 'server')
local flush = meta[4]
if not meta[1] then return {} end
if meta[6] ~= SERVER then return {meta[1]} end
if not flush then
  if redis.call('EXISTS', KEYS[2]) == 0 then return {meta[1], meta[2]} end
  flush = meta[3]
  redis.call('RENAME', KEYS[2], KEYS[3] .. flush)
  redis.call('HSET', KEYS[1], 'flushing', flush, 'flushingsince', meta[5] or '0')
  redis.call('HDEL', KEYS[1], 'since')
end
return {meta[1], meta[2], flush, redis.call('SCARD', KEYS[3] .. flush)}
