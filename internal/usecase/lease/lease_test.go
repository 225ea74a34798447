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

// store is one lease, by the clock of the test.
type store struct {
	mu      sync.Mutex
	lease   lease.Lease
	expires time.Time
	away    bool
	asked   int
}

func (s *store) AcquireLease(_ context.Context, holder string, ttl time.Duration) (lease.Lease, error) {
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
	s.expires = time.Now().Add(ttl)
	return s.lease, nil
}

func (s *store) ReleaseLease(_ context.Context, l lease.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == l {
		s.lease.Holder, s.expires = "", time.Time{}
	}
	return nil
}

func (s *store) goesAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

const ttl = 10 * time.Second

func TestElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		first, second := lease.New(s, "first", ttl), lease.New(s, "second", ttl)
		take := func(what string, e *lease.Elector, want lease.Change, wantErr error) {
			t.Helper()
			c, err := e.Take(t.Context())
			if c != want || !errors.Is(err, wantErr) || e.Held() != (err == nil) {
				t.Errorf("%s: %+v, %v, held: %v", what, c, err, e.Held())
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
			t.Errorf("fence %d: nobody else had it", fence)
		}

		time.Sleep(ttl)
		take("a takeover", second, lease.Change{Gained: true}, nil)
		if fence := second.Lease().Fence; fence != 2 {
			t.Errorf("fence %d after a takeover, want 2", fence)
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

func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &store{}
		first, second := lease.New(s, "first", ttl), lease.New(s, "second", ttl)
		if _, err := first.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := first.Keep(t.Context())
		time.Sleep(10 * ttl)
		if _, err := second.Take(t.Context()); !errors.Is(err, lease.ErrLost) || ctx.Err() != nil {
			t.Errorf("a lease that is kept: another one took it: %v, and it ended: %v", err, ctx.Err())
		}
		s.goesAway(true)
		time.Sleep(2 * ttl)
		if ctx.Err() != nil {
			t.Error("a store that is away ended the work: what it writes finds out by itself")
		}
		s.goesAway(false)
		if _, err := second.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		if !errors.Is(context.Cause(ctx), lease.ErrLost) {
			t.Errorf("work under a lost lease goes on: %v", context.Cause(ctx))
		}
		stop()
		asked := s.asked
		time.Sleep(ttl)
		if s.asked != asked {
			t.Error("it is renewed after stop")
		}
	})
}
