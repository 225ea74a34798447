-- Reports whether the caller holds the hydration's lock and the guild is not in use. KEYS[1] meta, KEYS[2] lock; ARGV[1] incarnation,
-- ARGV[2] token.
local function locked()
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server')
  return redis.call('GET', KEYS[2]) == ARGV[2] .. '@' .. SERVER and (meta[1] ~= ARGV[1] or meta[2] ~= SERVER)
end
