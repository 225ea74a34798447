-- Reports whether this incarnation of the guild is verified or frozen, and still in this epoch; then returns the fields of meta that the
-- caller names. KEYS[1] meta; ARGV[1] incarnation, ARGV[2] epoch.
local function current(...)
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', ...)
  return meta[1] == ARGV[1] and (meta[2] == SERVER or meta[2] == FROZEN) and meta[3] == ARGV[2], unpack(meta, 4)
end
