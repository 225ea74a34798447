-- Put before every script of a hydration: only the holder of the lock loads, and never over a guild that is in use.
-- KEYS[1] meta, KEYS[2] lock; ARGV[1] incarnation, ARGV[2] token.
do
  local meta = redis.call('HMGET', KEYS[1], 'incarnation', 'server')
  if redis.call('GET', KEYS[2]) ~= ARGV[2] .. '@' .. SERVER or (meta[1] == ARGV[1] and here(meta[2])) then return 'HYDRATIONLOST' end
end
