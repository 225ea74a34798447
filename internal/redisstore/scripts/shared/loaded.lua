-- Put before every script that works on a loaded guild: nothing is read or changed for another incarnation, nor of a guild
-- that was not verified on this life of this server, which may hold older data than the one before.
-- KEYS[1] meta; ARGV[1] incarnation.
do
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server')
  if meta[1] ~= ARGV[1] or not here(meta[2]) then return 'NOTLOADED' end
end
