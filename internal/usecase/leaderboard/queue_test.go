package leaderboard

import (
	"context"
	"errors"
	"testing"

	"levelboard/internal/domain/guild"
)

type loaderFunc func()

func (f loaderFunc) Load(context.Context, GuildRef) error {
	f()
	return nil
}

func (f loaderFunc) LoadBoards(ctx context.Context, g GuildRef) error { return f.Load(ctx, g) }

func (loaderFunc) Past(context.Context, GuildRef, Digest) (*Past, error) { return &Past{}, nil }

func TestAFullQueueOfLoadsRefusesAtOnce(t *testing.T) {
	l := New(nil, loaderFunc(func() {}), nil, Options{})
	if !l.loading.TryAcquire(maxLoading - 1) {
		t.Fatal("another load is waiting already")
	}
	l.loader = loaderFunc(func() {
		if err := l.load(t.Context(), &guild.Guild{}, "test", l.loader.Load); !errors.Is(err, errQueueFull) {
			t.Errorf("one load too many: %v, want errQueueFull", err)
		}
	})
	for _, who := range []string{"who finds the last place", "who comes later"} {
		if err := l.load(t.Context(), &guild.Guild{}, "test", l.loader.Load); err != nil {
			t.Errorf("a load %s: %v, want none", who, err)
		}
	}
}
