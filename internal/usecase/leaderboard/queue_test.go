package leaderboard

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// waitingLoader loads when the test says so.
type waitingLoader struct {
	loading chan struct{}
	done    chan struct{}
}

func (l waitingLoader) Load(context.Context, GuildRef) error {
	l.loading <- struct{}{}
	<-l.done
	return nil
}

func TestWhoFindsTheQueueFullIsRefusedAtOnce(t *testing.T) {
	l := waitingLoader{loading: make(chan struct{}), done: make(chan struct{})}
	q := newQueue(l, 2)
	var waiting sync.WaitGroup
	for range 2 {
		waiting.Go(func() {
			if err := q.Load(t.Context(), GuildRef{}); err != nil {
				t.Errorf("one who found a place: %v", err)
			}
		})
		<-l.loading
	}
	if err := q.Load(t.Context(), GuildRef{}); !errors.Is(err, errQueueFull) {
		t.Errorf("one more: %v", err)
	}
	close(l.done)
	waiting.Wait()
	go func() { <-l.loading }()
	if err := q.Load(t.Context(), GuildRef{}); err != nil {
		t.Errorf("one who came later: %v", err)
	}
}
