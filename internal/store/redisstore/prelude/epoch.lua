-- Says whether this incarnation of the guild is loaded and verified, or frozen, and of this epoch, not loaded again since; then come
-- fields of meta that the caller names. KEYS[1] meta; ARGV[1] incarnation, ARGV[2] epoch.
local function current(...)
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server', 'epoch', ...)
  return meta[1] == ARGV[1] and (meta[2] == SERVER or meta[2] == FROZEN) and meta[3] == ARGV[2], unpack(meta, 4)
end
