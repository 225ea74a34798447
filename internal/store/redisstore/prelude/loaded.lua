-- Says whether this incarnation of the guild is loaded, and verified on this life of this server, which may hold older data than the one
-- before: a script that works on a loaded guild asks this first, and else reads and changes nothing. Then come fields of meta that the
-- caller names. KEYS[1] meta; ARGV[1] incarnation.
local function loaded(...)
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', ...)
  return meta[1] == ARGV[1] and meta[2] == SERVER, unpack(meta, 3)
end
