-- Reads a guild's version.
--
-- KEYS     meta
-- ARGV     incarnation
-- returns  {epoch, rev} | NOTLOADED
-- atomic   both are of one moment; nothing is changed
return redis.call('HMGET', KEYS[1], 'epoch', 'rev')
