package ratelimit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/ratelimit"
	"levelboard/internal/testing/testenv"
)

func TestRedisGoneIsAnErrorAndItsReturnIsNoticed(t *testing.T) {
	server := testenv.Redis(t)
	l := ratelimit.New(connect(t, server.URL()))
	charge(t, l, perKey(5))
	server.Kill()
	d, err := l.Charge(t.Context(), perKey(5))
	if err == nil || d.Allowed || !strings.Contains(err.Error(), "budget of scope key") || errors.Unwrap(err) == nil {
		t.Fatalf("with Redis dead: %+v, %v", d, err)
	}
	server.Start()
	if d := charge(t, l, perKey(5)); d.Remaining != 4 {
		t.Fatalf("on the new, empty Redis, which has no scripts either: %+v", d)
	}
}

// leaver cancels its caller's context once Redis has answered for a budget's key.
type leaver struct {
	key   string
	leave context.CancelFunc
}

func (l leaver) DialHook(next redis.DialHook) redis.DialHook { return next }

func (l leaver) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (l leaver) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if args := cmd.Args(); len(args) > 3 && args[3] == l.key && err == nil {
			l.leave()
		}
		return err
	}
}

func TestACallerWhoLeftIsNotChargedForARefusal(t *testing.T) {
	server := miniredis.RunT(t)
	server.SetTime(noon)
	client := connect(t, "redis://"+server.Addr())
	l := ratelimit.New(client)
	charge(t, l, perOwner(1))
	ctx, leave := context.WithCancel(t.Context())
	client.AddHook(leaver{key: "rate:lb:k:{100000000000000001}:abcdefghijkl", leave: leave})
	if d, err := l.Charge(ctx, perKey(10), perOwner(1)); d.Allowed || ctx.Err() == nil {
		t.Fatalf("got %+v, %v; the caller has left: %v", d, err, ctx.Err())
	}
	if d := charge(t, l, perKey(10)); d.Remaining != 9 {
		t.Fatalf("the key has %d left, want 9", d.Remaining)
	}
}
