package redisconn_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
)

// Half of a batch's replies arrive. Those callers get their answer, the others an error, and every change was made once.
func TestABatchInterruptedInItsRepliesIsMadeOnce(t *testing.T) {
	const guilds = 64
	server := testenv.Redis(t)
	direct := newBoard(connect(t, server.URL()))
	proxy := testenv.NewProxy(t, server.Addr())
	s := newBoard(connect(t, "redis://"+proxy.Addr()))
	for g := range guilds {
		loadGuild(t, direct, guildNo(g), nth(1))
	}
	_, err := s.Version(t.Context(), guildNo(0)) // opens the connection
	ok(t, err)

	b := newBatch(t, s)
	var changes []*changed
	for g := range guilds {
		changes = append(changes, b.change(guildNo(g), nth(1), plus(1)))
	}
	proxy.Next(testenv.HalfAReply)
	b.send()
	answered := 0
	var first []id.Guild
	for i, c := range changes {
		if c.err != nil {
			continue
		}
		answered++
		c.want(t, 100, 101)
		first = append(first, guildNo(i).ID)
	}
	if answered == 0 || answered == len(changes) {
		t.Errorf("%d of %d changes were answered, want some and not all", answered, len(changes))
	}
	for g := range guilds {
		if v, err := direct.Version(t.Context(), guildNo(g)); err != nil || v.Rev != 1 {
			t.Errorf("after one change guild %d has rev %d (%v)", g, v.Rev, err)
		}
		if m, err := direct.Member(t.Context(), guildNo(g), nth(1)); err != nil || m.XP != 101 {
			t.Errorf("the member of guild %d has %d XP (%v), want 101", g, m.XP, err)
		}
	}
	// The guild of an answered change is in the index, although the connection broke afterwards.
	dirty, err := s.ChangedGuilds(t.Context())
	ok(t, err)
	for _, g := range first {
		if !slices.Contains(dirty, g) {
			t.Errorf("the index lacks guild %s: %v", g, dirty)
		}
	}
}

// While Redis is silent no caller waits longer than its patience, and its call leaves the queue.
func TestAllCallersLeaveASilentRedis(t *testing.T) {
	const callers, patience = 300, 100 * time.Millisecond
	server := testenv.Redis(t)
	s := newBoard(connect(t, server.URL()))
	loadGuild(t, s, guild1, nth(1))
	ctx := pause.WithPatience(t.Context(), patience)
	server.Pause()
	var failed atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			if _, err := s.Change(ctx, guild1, nth(1), plus(1)); err != nil {
				failed.Add(1)
			}
		})
	}
	all.Wait() // without a deadline, so an endless wait would hang the test
	server.Resume()
	if failed.Load() != callers {
		t.Errorf("%d of %d calls failed, want all", failed.Load(), callers)
	}
	o, err := s.Change(t.Context(), guild1, nth(1), plus(1))
	// At most one batch was sent.
	if err != nil || o.Before < 100 || o.Before > 100+redisconn.BatchCalls {
		t.Errorf("a change afterwards: %+v (%v), want one batch or none before it", o, err)
	}
	for waiting, senders := s.Waiting(); waiting+senders > 0; waiting, senders = s.Waiting() {
		time.Sleep(time.Millisecond)
	}
}

// On a cluster a redirected call has only the rest of its patience.
func TestACallWithLittlePatienceEndsNoOther(t *testing.T) {
	server := testenv.Redis(t)
	s := newBoard(connect(t, server.URL()))
	loadGuild(t, s, guild1, nth(1))
	b := newBatch(t, s)
	for _, patience := range []time.Duration{time.Minute, time.Millisecond, time.Minute} {
		b.add(func() {
			if _, err := s.Change(pause.WithPatience(b.t.Context(), patience), guild1, nth(1), plus(1)); err != nil && patience == time.Minute {
				t.Errorf("a change with a patience of %v: %v, want none", patience, err)
			}
		})
	}
	server.Pause()
	resumed := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { server.Resume(); close(resumed) })
	b.send()
	<-resumed
	if m, err := s.Member(t.Context(), guild1, nth(1)); err != nil || m.XP < 102 {
		t.Errorf("the member has %d XP (%v), want 102 or more", m.XP, err)
	}
}
