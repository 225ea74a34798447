-- Says whether this incarnation of the guild is loaded, and verified on this life of the server, which may hold older data than the one
-- before, with flags of hidden users as new as the caller knows of; then come fields of meta that the caller names. KEYS[1] meta; ARGV[1]
-- incarnation, ARGV[2] number of the newest flags (hide.lua).
local function loaded(...)
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'hidden', ...)
  return meta[1] == ARGV[1] and meta[2] == SERVER and (meta[3] or 0) + 0 >= ARGV[2] + 0, unpack(meta, 4)
end
