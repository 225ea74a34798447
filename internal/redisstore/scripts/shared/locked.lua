-- Put before every script of a hydration: only the holder of the lock loads, and never over its own incarnation.
-- KEYS[1] meta, KEYS[2] lock; ARGV[1] incarnation, ARGV[2] token.
if redis.call('GET', KEYS[2]) ~= ARGV[2] or redis.call('HGET', KEYS[1], 'incarnation') == ARGV[1] then
  return 'HYDRATIONLOST'
end
