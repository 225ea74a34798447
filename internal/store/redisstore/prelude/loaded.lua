-- Reports whether this incarnation of the guild is loaded, verified on this life of the server (a restarted server may hold older data),
-- and has flags of hidden users up to the number that the caller knows; then returns the fields of meta that the caller names. KEYS[1]
-- meta; ARGV[1] incarnation, ARGV[2] number of the newest flags (hide.lua).
local function loaded(...)
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'hidden', ...)
  return meta[1] == ARGV[1] and meta[2] == SERVER and (meta[3] or 0) + 0 >= ARGV[2] + 0, unpack(meta, 4)
end
