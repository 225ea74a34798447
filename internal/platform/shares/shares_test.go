package shares_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/platform/shares"
	"levelboard/internal/testing/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func take(t *testing.T, p *shares.Pool, holder string) *shares.Place {
	t.Helper()
	place, err := p.Take(holder)
	if err != nil {
		t.Fatalf("%s gets no place: %v", holder, err)
	}
	return place
}

func wantRefused(t *testing.T, p *shares.Pool, holder string, want error) {
	t.Helper()
	if _, err := p.Take(holder); !errors.Is(err, want) {
		t.Errorf("one place more for %s: %v, want %v", holder, err, want)
	}
}

func TestEachHolderHasItsShare(t *testing.T) {
	p := shares.New(4, 2)
	first := take(t, p, "a")
	take(t, p, "a")
	wantRefused(t, p, "a", shares.ErrShare)
	take(t, p, "b") // a does not reduce b's share
	first.Release()
	first.Release() // a second release has no effect
	take(t, p, "b")
	wantRefused(t, p, "b", shares.ErrShare)
	take(t, p, "c")
	wantRefused(t, p, "c", shares.ErrFull)
}

// A new holder finds a place, even if many others take all they can.
func TestManyHoldersLeaveAPlaceForAnother(t *testing.T) {
	p := shares.New(2048, 512)
	all := 0
	for n := range 8 {
		for {
			if _, err := p.Take(strconv.Itoa(n)); err != nil {
				break
			}
			all++
		}
		if n == 0 && all != 512 {
			t.Errorf("a single holder has %d places, want 512", all)
		}
	}
	for n := range 100 {
		take(t, p, "newcomer "+strconv.Itoa(n))
	}
}

// Bytes are places too. A request for more than a share takes the share.
func TestSeveralPlacesAsOne(t *testing.T) {
	p := shares.New(100, 40)
	takeN := func(holder string, n int, want error) *shares.Place {
		t.Helper()
		place, err := p.TakeN(holder, n)
		if !errors.Is(err, want) {
			t.Errorf("%d places for %s: %v, want %v", n, holder, err, want)
		}
		return place
	}
	first := takeN("a", 30, nil)
	takeN("a", 11, shares.ErrShare)
	takeN("a", 10, nil)
	takeN("b", 30, shares.ErrShare) // would leave too few for c
	takeN("b", 20, nil)
	first.Lend()
	if first.Release(); p.Holders() != 2 {
		t.Errorf("%d holders have places, want 2", p.Holders())
	}
	takeN("c", 1000, shares.ErrShare) // would leave none for d
	takeN("c", 16, nil)
}

func TestHoldersOfNothingAreForgotten(t *testing.T) {
	p := shares.New(3, 1)
	for n := range 100 {
		holder := strconv.Itoa(n)
		place := take(t, p, holder)
		wantRefused(t, p, holder, shares.ErrShare)
		place.Release()
	}
	if n := p.Holders(); n != 0 {
		t.Errorf("%d holders without places are kept, want 0", n)
	}
}

func TestALentPlaceCountsInItsShare(t *testing.T) {
	p := shares.New(1, 1)
	place := take(t, p, "a")
	place.Lend()
	wantRefused(t, p, "a", shares.ErrShare)
	other := take(t, p, "b")
	if place.Resume() {
		t.Error("the only place was resumed while another holds it")
	}
	other.Release()
	if !place.Resume() {
		t.Error("the lent place was not resumed after its release")
	}
	wantRefused(t, p, "b", shares.ErrFull)
	place.Lend()
	place.Release()
	take(t, p, "a").Release()
	var none *shares.Place
	none.Lend()
	none.Release()
	if !none.Resume() {
		t.Error("resuming without a place returns false, want true")
	}
}

func TestConcurrentTakesAreBounded(t *testing.T) {
	const most = 5
	p := shares.New(100, most)
	var mu sync.Mutex
	var places []*shares.Place
	var takers sync.WaitGroup
	for range 50 {
		takers.Go(func() {
			if place, err := p.Take("a"); err == nil {
				mu.Lock()
				defer mu.Unlock()
				places = append(places, place)
			}
		})
	}
	takers.Wait()
	if len(places) != most {
		t.Errorf("%d places were given, want %d", len(places), most)
	}
	for _, place := range places {
		takers.Go(place.Release)
	}
	takers.Wait()
	if n := p.Holders(); n != 0 {
		t.Errorf("%d holders have a place at the end, want 0", n)
	}
}

func TestWaitGetsAReleasedPlace(t *testing.T) {
	for name, p := range map[string]func() *shares.Pool{
		"of the share": func() *shares.Pool { return shares.New(9, 1) },
		"of all":       func() *shares.Pool { return shares.New(1, 9) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := p()
				first := take(t, p, "a")
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if place, err := p.Wait(ctx, "a"); err == nil || place != nil {
					t.Error("one place too many was given")
				}
				waited := make(chan *shares.Place)
				go func() {
					place, err := p.Wait(t.Context(), "a")
					if err != nil {
						t.Error(err)
					}
					waited <- place
				}()
				synctest.Wait()
				first.Release()
				(<-waited).Release()
				if n := p.Holders(); n != 0 {
					t.Errorf("%d holders without places are kept, want 0", n)
				}
			})
		})
	}
}
