package shares_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/http/shares"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func take(t *testing.T, p *shares.PerCaller, caller string) func() {
	t.Helper()
	release, ok := p.Take(caller)
	if !ok {
		t.Fatalf("%s gets no share", caller)
	}
	return release
}

func TestEachHolderHasItsOwnBound(t *testing.T) {
	p := shares.NewPerCaller(2)
	first := take(t, p, "a")
	take(t, p, "a")
	if _, ok := p.Take("a"); ok {
		t.Error("a has three shares")
	}
	take(t, p, "b") // whom a takes nothing from
	first()
	first() // gives back nothing that is another's
	take(t, p, "a")
	if _, ok := p.Take("a"); ok {
		t.Error("a has three shares after one was given back twice")
	}
}

func TestWhoHoldsNothingIsForgotten(t *testing.T) {
	p := shares.NewPerCaller(1)
	for n := range 100 {
		caller := strconv.Itoa(n)
		release := take(t, p, caller)
		if _, ok := p.Take(caller); ok {
			t.Error("one too many")
		}
		release()
	}
	if n := p.Callers(); n != 0 {
		t.Errorf("%d are remembered who hold nothing", n)
	}
}

func TestManyTakeAtTheSameTime(t *testing.T) {
	const most = 5
	p := shares.NewPerCaller(most)
	var mu sync.Mutex
	var releases []func()
	var takers sync.WaitGroup
	for range 50 {
		takers.Go(func() {
			if release, ok := p.Take("a"); ok {
				mu.Lock()
				defer mu.Unlock()
				releases = append(releases, release)
			}
		})
	}
	takers.Wait()
	if len(releases) != most {
		t.Errorf("%d shares were given, want %d", len(releases), most)
	}
	for _, release := range releases {
		takers.Go(release)
	}
	takers.Wait()
	if n := p.Callers(); n != 0 {
		t.Errorf("%d hold a share at the end", n)
	}
}

func TestWhoHasAllWaitsForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := shares.NewPerCaller(1)
		first := take(t, p, "a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Wait(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one too many: %v", err)
		}
		waited := make(chan func())
		go func() {
			release, err := p.Wait(t.Context(), "a")
			if err != nil {
				t.Error(err)
			}
			waited <- release
		}()
		synctest.Wait()
		take(t, p, "b")() // whom a does not keep waiting
		first()
		first() // gives back nothing that is another's
		second := <-waited
		if _, ok := p.Take("a"); ok {
			t.Error("a has two shares")
		}
		second()
		if n := p.Callers(); n != 0 {
			t.Errorf("%d are remembered who hold nothing", n)
		}
	})
}
