package metrics_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"levelboard/internal/platform/metrics"
)

func TestSharedAsksAgainAfterAnInterval(t *testing.T) {
	now, asked := time.Unix(1000, 0), 0
	shared := metrics.NewShared(func(ctx context.Context) int {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("the question has no deadline")
		}
		asked++
		return asked
	}, metrics.SharedOptions{Limit: time.Second, Freshness: 2 * time.Second, Now: func() time.Time { return now }})
	for _, want := range []int{1, 1, 2, 2} {
		if got := shared.Get(); got != want {
			t.Errorf("Get returned answer %d, want %d", got, want)
		}
		now = now.Add(time.Second)
	}
}

func TestSharedIsSharedByConcurrentScrapes(t *testing.T) {
	asking, answer := make(chan struct{}), make(chan struct{})
	shared := metrics.NewShared(func(context.Context) int {
		close(asking) // panics at a second question
		<-answer
		return 7
	}, metrics.SharedOptions{Limit: time.Minute, Freshness: time.Minute, Now: time.Now})
	var scrapes sync.WaitGroup
	for range 8 {
		scrapes.Go(func() {
			if got := shared.Get(); got != 7 {
				t.Errorf("a scrape got %d, want 7", got)
			}
		})
	}
	<-asking
	close(answer)
	scrapes.Wait()
}
