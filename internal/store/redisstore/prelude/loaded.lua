-- Says whether this incarnation of the guild is loaded, and verified on this life of this server, which may hold older data than the
-- one before: a script that works on a loaded guild asks this first, and else reads and changes nothing. After it come
-- more fields of meta that the caller names: they are read in the same command, and each takes its time.
-- KEYS[1] meta; ARGV[1] incarnation.
local function loaded(...)
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', ...)
  return meta[1] == ARGV[1] and meta[2] == SERVER, unpack(meta, 3)
end
