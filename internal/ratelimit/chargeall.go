package ratelimit

import "github.com/redis/go-redis/v9"

// chargeAll takes from 0 to n requests from one or two buckets of redis_rate, from each the same number, as many as all of
// them have. A bucket is a time in seconds since 2017: when it will be full. redis_rate itself has no call for two, and its
// AllowAtMost takes a fraction of a request that it does not give.
//
// KEYS are the buckets, ARGV is n and the limit a minute of each. It returns how many were taken, and for each bucket in
// how many seconds it is full. What the resolution of a time can hide (a microsecond) is given: of a limit beyond 10^9 a
// request may take nothing.
//
// A bucket that is full in more than a minute was written before the server's clock was set back. It is taken for an empty one,
// and that is written: else it would stay empty for as long as the clock was set back by.
//
// A server that refuses writes still has reads to answer, so its refusal is no failure here. When its memory is full, a bucket
// is written all the same, since it is small and soon gone: once a script has deleted something, Redis refuses it nothing for
// want of memory. When it cannot save to its disk, or has too few replicas, what is taken is not counted. That it is a replica
// is a failure: what it holds may be old, and go-redis then connects anew, maybe to the master.
var chargeAll = redis.NewScript(`
local function put(key, ...)
  local reply = redis.pcall("SET", key, ...)
  local refusal = type(reply) == "table" and reply.err
  if not refusal then return end
  if string.find(refusal, "^OOM ") then
    redis.call("DEL", key)
    redis.call("SET", key, ...)
  elseif not string.find(refusal, "^MISCONF ") and not string.find(refusal, "^NOREPLICAS ") then
    return reply
  end
end

local now = redis.call("TIME")
now = (now[1] - 1483228800) + (now[2] / 1000000)
local taken, full_at, ahead = tonumber(ARGV[1]), {}, {}
for i = 1, #KEYS do
  local at = tonumber(redis.call("GET", KEYS[i]) or now)
  ahead[i] = at > now + 60.001
  full_at[i] = math.min(math.max(at, now), now + 60)
  taken = math.min(taken, math.floor((now + 60.000001 - full_at[i]) * ARGV[i + 1] / 60))
end
taken = math.max(taken, 0)
local answer = {taken}
for i = 1, #KEYS do
  local left = full_at[i] + taken * 60 / ARGV[i + 1] - now
  if (taken > 0 or ahead[i]) and left > 0 then
    local failed = put(KEYS[i], now + left, "EX", math.ceil(left))
    if failed then return failed end
  end
  answer[i + 1] = tostring(left)
end
return answer
`)

// refusesWrites reports whether an error is the word of a server that answers reads and refuses writes.
func refusesWrites(err error) bool {
	return redis.HasErrorPrefix(err, "OOM ") || redis.HasErrorPrefix(err, "MISCONF ") || redis.HasErrorPrefix(err, "NOREPLICAS ")
}
