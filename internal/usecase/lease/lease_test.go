package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/usecase/lease"
)

var errAway = errors.New("the store is away")

// store has one lease, timed by the test's clock.
type store struct {
	mu      sync.Mutex
	lease   lease.Lease
	expires time.Time
	last    bool
	away    bool
	asked   int
}

func (s *store) AcquireLease(_ context.Context, holder string, ttl time.Duration, last bool) (lease.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	switch {
	case s.away:
		return lease.Lease{}, errAway
	case s.lease.Holder != holder && time.Now().Before(s.expires):
		return lease.Lease{}, lease.ErrLost
	case s.lease.Holder != holder:
		s.lease = lease.Lease{Holder: holder, Fence: s.lease.Fence + 1}
	}
	s.expires, s.last = time.Now().Add(ttl), last
	return s.lease, nil
}

func (s *store) LeaseState(context.Context) (lease.State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return lease.State{Lease: s.lease, Ends: s.expires.UnixMilli(), Last: s.last}, nil
}

func (s *store) ReleaseLease(_ context.Context, l lease.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == l {
		s.lease.Holder, s.expires, s.last = "", time.Time{}, false
	}
	return nil
}

func (s *store) goesAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

const ttl = 10 * time.Second

func TestOneElectorHoldsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		first, second := lease.New(s, "first", ttl), lease.New(s, "second", ttl)
		take := func(what string, e *lease.Elector, want lease.Change, wantErr error) {
			t.Helper()
			c, err := e.Take(t.Context())
			if c != want || !errors.Is(err, wantErr) || e.Held() != (err == nil) {
				t.Errorf("%s: the change is %+v (%v) and held %v, want %+v and %v", what, c, err, e.Held(), want, wantErr)
			}
		}
		take("a free one", first, lease.Change{Gained: true}, nil)
		take("another's", second, lease.Change{}, lease.ErrLost)
		time.Sleep(ttl - time.Second)
		take("a renewal", first, lease.Change{}, nil)
		time.Sleep(ttl - time.Second)
		take("a renewed one", second, lease.Change{}, lease.ErrLost)
		s.goesAway(true)
		take("of a store that is away", first, lease.Change{}, errAway)
		s.goesAway(false)
		take("when it is back", first, lease.Change{Gained: true}, nil)
		if fence := first.Lease().Fence; fence != 1 {
			t.Errorf("the fence is %d, want 1: nobody else had the lease", fence)
		}

		time.Sleep(ttl)
		take("a takeover", second, lease.Change{Gained: true}, nil)
		if fence := second.Lease().Fence; fence != 2 {
			t.Errorf("after a takeover the fence is %d, want 2", fence)
		}
		take("a lost one", first, lease.Change{Lost: true}, lease.ErrLost)
		take("a lost one again", first, lease.Change{}, lease.ErrLost)
		if err := errors.Join(first.Release(t.Context()), second.Release(t.Context())); err != nil {
			t.Error(err)
		}
		take("a released one, at once", first, lease.Change{Gained: true}, nil)
		time.Sleep(ttl)
		take("another takeover", second, lease.Change{Gained: true}, nil)
		time.Sleep(ttl)
		take("one that somebody else had meanwhile", first, lease.Change{Gained: true, Lost: true}, nil)
	})
}

func TestKeepRenewsALeaseUntilItIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		first, second := lease.New(s, "first", ttl), lease.New(s, "second", ttl)
		if _, err := first.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := first.Keep(t.Context())
		time.Sleep(10 * ttl)
		if _, err := second.Take(t.Context()); !errors.Is(err, lease.ErrLost) || ctx.Err() != nil {
			t.Errorf("taking a kept lease: %v, and its context: %v, want lease.ErrLost and no end", err, ctx.Err())
		}
		s.goesAway(true)
		time.Sleep(2 * ttl)
		if ctx.Err() != nil {
			t.Error("a store that is down ended the work; the work's own writes must find out")
		}
		s.goesAway(false)
		if _, err := second.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		if !errors.Is(context.Cause(ctx), lease.ErrLost) {
			t.Errorf("work under a lost lease: %v, want it ended with lease.ErrLost", context.Cause(ctx))
		}
		stop()
		asked := s.asked
		time.Sleep(ttl)
		if s.asked != asked {
			t.Error("the lease is renewed after stop")
		}
	})
}

// A process that stops must know that all is written: by itself, or by another that continues.
func TestTakeLastWaitsForTheLeaseOrForALivingHolder(t *testing.T) {
	taken := func(t *testing.T, e *lease.Elector) {
		t.Helper()
		if _, err := e.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		other  func(t *testing.T, s *store, other *lease.Elector) // what another elector does meanwhile
		within time.Duration
		held   bool
		err    error
		after  time.Duration
	}{
		{name: "a free lease", within: ttl, held: true},
		{name: "a lease that is renewed", within: ttl, other: func(t *testing.T, _ *store, other *lease.Elector) {
			taken(t, other)
			time.Sleep(ttl / 5)
			taken(t, other)
		}, after: ttl / 5},
		{name: "a killed holder's lease", within: 2 * ttl, other: func(t *testing.T, _ *store, other *lease.Elector) { taken(t, other) }, held: true, after: ttl},
		{name: "a killed holder's lease, without the time to wait", within: ttl / 2, other: func(t *testing.T, _ *store, other *lease.Elector) { taken(t, other) }, err: lease.ErrSilent, after: ttl / 2},
		{name: "the lease of a holder that stops too", within: ttl, other: func(t *testing.T, _ *store, other *lease.Elector) {
			if _, err := other.TakeLast(t.Context()); err != nil {
				t.Error(err)
			}
			_, stop := other.Keep(t.Context())
			time.Sleep(ttl / 2)
			stop()
			if err := other.Release(t.Context()); err != nil {
				t.Error(err)
			}
		}, held: true, after: ttl / 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &store{}
				e, other := lease.New(s, "this", ttl), lease.New(s, "other", ttl)
				var meanwhile sync.WaitGroup
				if c.other != nil {
					meanwhile.Go(func() { c.other(t, s, other) })
					synctest.Wait()
				}
				ctx, cancel := context.WithTimeout(t.Context(), c.within)
				defer cancel()
				began := time.Now()
				held, err := e.TakeLast(ctx)
				if took := time.Since(began); held != c.held || !errors.Is(err, c.err) || took < c.after || took > c.after+time.Second {
					t.Errorf("held %v (%v) after %v, want %v (%v) after %v", held, err, took, c.held, c.err, c.after)
				}
				meanwhile.Wait()
			})
		})
	}
}
