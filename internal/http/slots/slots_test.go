package slots_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/http/slots"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func take(t *testing.T, p *slots.PerHolder, holder string) func() {
	t.Helper()
	release, ok := p.Take(holder)
	if !ok {
		t.Fatalf("%s gets no slot", holder)
	}
	return release
}

func TestEachHolderHasItsOwnBound(t *testing.T) {
	p := slots.NewPerHolder(2)
	first := take(t, p, "a")
	take(t, p, "a")
	if _, ok := p.Take("a"); ok {
		t.Error("a has three slots")
	}
	take(t, p, "b") // whom a takes nothing from
	first()
	first() // gives back nothing that is another's
	take(t, p, "a")
	if _, ok := p.Take("a"); ok {
		t.Error("a has three slots after one was given back twice")
	}
}

func TestWhoHoldsNothingIsForgotten(t *testing.T) {
	p := slots.NewPerHolder(1)
	for n := range 100 {
		holder := strconv.Itoa(n)
		release := take(t, p, holder)
		if _, ok := p.Take(holder); ok {
			t.Error("one too many")
		}
		release()
	}
	if n := p.Holders(); n != 0 {
		t.Errorf("%d are remembered who hold nothing", n)
	}
}

func TestManyTakeAtTheSameTime(t *testing.T) {
	const most = 5
	p := slots.NewPerHolder(most)
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
		t.Errorf("%d slots were given, want %d", len(releases), most)
	}
	for _, release := range releases {
		takers.Go(release)
	}
	takers.Wait()
	if n := p.Holders(); n != 0 {
		t.Errorf("%d hold a slot at the end", n)
	}
}

func TestWhoHasAllWaitsForOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := slots.NewPerHolder(1)
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
			t.Error("a has two slots")
		}
		second()
		if n := p.Holders(); n != 0 {
			t.Errorf("%d are remembered who hold nothing", n)
		}
	})
}
