package ratelimit

import "github.com/redis/go-redis/v9"

// refundOne takes one charge out of a bucket of redis_rate, which is a time in seconds since 2017: when it will be full.
// KEYS[1] is the bucket, ARGV[1] its limit a minute.
//
// redis_rate's AllowN(-1) will not do: it writes nothing when the bucket would be full again, and resetting the bucket in
// a second step would wipe out whatever others charged between the two.
var refundOne = redis.NewScript(`
local full_at = redis.call("GET", KEYS[1])
if not full_at then
  return 0
end
local now = redis.call("TIME")
now = (now[1] - 1483228800) + (now[2] / 1000000)
full_at = tonumber(full_at) - 60 / ARGV[1]
local left = full_at - now
if left <= 0 then
  redis.call("DEL", KEYS[1])
else
  redis.call("SET", KEYS[1], full_at, "EX", math.ceil(left))
end
return 1
`)
