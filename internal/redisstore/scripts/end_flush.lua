-- Drops a set aside whose members are all archived; nothing when it was dropped already.
--
-- KEYS     meta, the set aside
-- ARGV     incarnation, epoch, number of the set, and the rev of the batch that the archive has committed, if that was not noted
-- returns  {} | NOTLOADED
-- atomic   the set and its note in meta go together, and the rev is noted with them
if ARGV[4] then archive(ARGV[4]) end
if redis.call('HGET', KEYS[1], 'flushing') == ARGV[3] then
  redis.call('UNLINK', KEYS[2])
  redis.call('HDEL', KEYS[1], 'flushing', 'flushingsince')
end
return {}
