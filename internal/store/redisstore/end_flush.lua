-- Drops a set aside whose members are all archived; nothing when it was dropped already.
--
-- KEYS     meta, the set aside
-- ARGV     incarnation, epoch, number of the set
-- returns  {} | NOTLOADED
-- atomic   the set and its note in meta go together
if not current() then return 'NOTLOADED' end
if flushing == ARGV[3] then
  redis.call('UNLINK', KEYS[2])
  redis.call('HDEL', KEYS[1], 'flushing', 'flushingsince')
end
return {}
