package ratelimit

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/fault"
)

// take charges up to n requests, at most the smallest limit, to each budget. It returns how many there was room for, and how
// long it then takes until each bucket is full.
func (l *Limiter) take(ctx context.Context, b budgets, n int) (taken int, full times, err error) {
	taken, full, err = l.takeCounted(ctx, b, n)
	if redis.IsReadOnlyError(err) {
		// A replica answers reads. Takes are not counted, and go-redis looks for the master with its next connection.
		return l.takeByScript(ctx, b, n, "uncounted")
	}
	return taken, full, err
}

func (l *Limiter) takeCounted(ctx context.Context, b budgets, n int) (taken int, full times, err error) {
	if b.count() == 2 {
		return l.takeByScript(ctx, b, n)
	}
	allow, limit := l.single.AllowAtMost, redis_rate.PerMinute(b[0].PerMinute)
	if n == 1 {
		allow = l.single.AllowN // takes no fraction of a request
	}
	r, err := allow(ctx, b[0].redisKey(), limit, n)
	switch {
	case redis.IsReadOnlyError(err):
		return 0, full, err // the script would only be told the same
	case fault.ChangesRefused(err) != "" || err == nil && r.ResetAfter > period+time.Millisecond:
		return l.takeByScript(ctx, b, n) // redis_rate took nothing, and cannot here
	case err != nil:
		return 0, full, err
	}
	return r.Allowed, times{r.ResetAfter}, nil
}

// takeByScript runs takeAtMost; with one more argument, such as "uncounted", it writes nothing.
func (l *Limiter) takeByScript(ctx context.Context, b budgets, n int, uncounted ...any) (taken int, full times, err error) {
	keys, args := []string(nil), []any{n}
	for _, budget := range b[:b.count()] {
		keys = append(keys, "rate:"+budget.redisKey()) // redis_rate's name of the bucket
		args = append(args, budget.PerMinute)
	}
	answer, err := takeAtMost.Run(ctx, l.client, keys, append(args, uncounted...)...).StringSlice()
	if err != nil {
		return 0, full, err
	}
	if len(answer) != len(args) {
		return 0, full, fmt.Errorf("unexpected reply %v", answer)
	}
	for i, text := range answer[1:] {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, full, fmt.Errorf("unexpected reply: %w", err)
		}
		full[i] = time.Duration(seconds * float64(time.Second))
	}
	taken, err = strconv.Atoi(answer[0])
	return taken, full, err
}

// takeAtMost takes up to n requests from one or two buckets of redis_rate, the same number from each: as many as all of them
// have. A bucket is a time in seconds since 2017: when it will be full. redis_rate has no call for two, and its AllowAtMost
// takes a fraction of a request that it does not give.
//
// KEYS are the buckets, ARGV is n and the limit a minute of each, and one more argument when nothing is to be written. It returns how
// many were taken, and for each bucket in how many seconds it is full. What the resolution of a time can hide (a microsecond) is given: of a
// limit beyond 10^9 a request may take nothing.
//
// A bucket that is full in more than a minute was written before the server's clock was set back. It counts as an empty one,
// and is written as such: else it would stay empty for as long as the clock was set back by.
//
// A server that refuses writes still answers reads, so its refusal is no failure here. When its memory is full, a bucket is
// written all the same, since it is small and soon gone: once a script has deleted something, Redis no longer checks its
// memory. When it cannot save to its disk, or has too few replicas, what is taken is not counted. A replica's refusal
// is a failure, so that go-redis connects again, maybe to the master.
var takeAtMost = redis.NewScript(`
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
local answer = {tostring(taken)}
for i = 1, #KEYS do
  local left = full_at[i] + taken * 60 / ARGV[i + 1] - now
  if (taken > 0 or ahead[i]) and left > 0 and not ARGV[#KEYS + 2] then
    local failed = put(KEYS[i], now + left, "EX", math.ceil(left))
    if failed then return failed end
  end
  answer[i + 1] = tostring(left)
end
return answer
`)
