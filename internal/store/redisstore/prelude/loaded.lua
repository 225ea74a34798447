-- Says whether this incarnation of the guild is loaded, and verified on this life of the server, which may hold older data than the one
-- before; then come fields of meta that the caller names. KEYS[1] meta; ARGV[1] incarnation.
local function loaded(...)
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', ...)
  return meta[1] == ARGV[1] and meta[2] == SERVER, unpack(meta, 3)
end
