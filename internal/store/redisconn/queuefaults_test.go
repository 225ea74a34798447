package redisconn_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/pause"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// Half of the replies of a batch arrive: who has one is answered, the others cannot know, and every change was made once.
func TestABatchIsCutOffInTheMiddleOfItsReplies(t *testing.T) {
	const guilds = 64
	server := testenv.Redis(t)
	direct := newBoard(connect(t, server.URL()))
	proxy := testenv.NewProxy(t, server.Addr())
	s := newBoard(connect(t, "redis://"+proxy.Addr()))
	for g := range guilds {
		loadGuild(t, direct, guildNo(g), nth(1))
	}
	_, err := s.Version(t.Context(), guildNo(0)) // has connected
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
		t.Errorf("%d of %d changes were answered, want those of some guilds", answered, len(changes))
	}
	for g := range guilds {
		if v, err := direct.Version(t.Context(), guildNo(g)); err != nil || v.Rev != 1 {
			t.Errorf("guild %d has rev %d, %v after a change", g, v.Rev, err)
		}
		if m, err := direct.Member(t.Context(), guildNo(g), nth(1)); err != nil || m.XP != 101 {
			t.Errorf("the member of guild %d has %d XP, %v, want 101", g, m.XP, err)
		}
	}
	// Whose first change was answered is in the index, although the connection broke after.
	dirty, err := s.ChangedGuilds(t.Context())
	ok(t, err)
	for _, g := range first {
		if !slices.Contains(dirty, g) {
			t.Errorf("guild %s is not among the changed ones, %v", g, dirty)
		}
	}
}

// Requests and replies get lost under concurrent changes. Each that was answered was made once, each other one at most once.
func TestChangesAreMadeAtMostOnceWhateverGetsLost(t *testing.T) {
	const workers, each, guilds, seed = 24, 60, 3, 20260102
	server := testenv.Redis(t)
	direct := newBoard(connect(t, server.URL()))
	proxy := testenv.NewProxy(t, server.Addr())
	s := newBoard(connect(t, "redis://"+proxy.Addr()))
	for g := range guilds {
		users := []id.User{nth(1000)}
		for w := range workers {
			users = append(users, nth(w))
		}
		loadGuild(t, direct, guildNo(g), users...)
	}
	var shared [guilds]struct{ made, unknown atomic.Int64 }
	var acked, lost atomic.Int64
	proxy.Fail(seed, 0.15)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			before := level.XP(100)
			g := guildNo(w % guilds)
			for i := range each {
				if i%3 == 0 {
					if _, err := s.Change(t.Context(), g, nth(1000), plus(1)); err == nil {
						shared[w%guilds].made.Add(1)
					} else {
						shared[w%guilds].unknown.Add(1)
					}
					continue
				}
				o, err := s.Change(t.Context(), g, nth(w), plus(1))
				m, readErr := direct.Member(t.Context(), g, nth(w))
				switch {
				case readErr != nil:
					t.Error(readErr)
					return
				case err == nil && (o.Before != before || o.After != before+1 || m.XP != before+1):
					t.Errorf("%d XP before, then %+v, and it is %d", before, o, m.XP)
				case err != nil && m.XP != before && m.XP != before+1:
					t.Errorf("a change by 1 without an answer went from %d to %d", before, m.XP)
				}
				if err == nil {
					acked.Add(1)
				} else {
					lost.Add(1)
				}
				before = m.XP
			}
		})
	}
	all.Wait()
	proxy.Fail(0, 0)
	t.Logf("%d faults; %d changes answered, %d not", proxy.Faults(), acked.Load(), lost.Load())
	if acked.Load() == 0 || lost.Load() == 0 {
		t.Error("that proves nothing")
	}
	for g := range guilds {
		m, err := direct.Member(t.Context(), guildNo(g), nth(1000))
		least := 100 + level.XP(shared[g].made.Load())
		if most := least + level.XP(shared[g].unknown.Load()); err != nil || m.XP < least || m.XP > most {
			t.Errorf("the member of all has %d XP, %v, want %d to %d", m.XP, err, least, most)
		}
	}
}

// While Redis is silent nobody waits for longer than the patience, and nothing is left of those who gave up.
func TestAllLeaveASilentRedis(t *testing.T) {
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
	all.Wait() // the context has no deadline: who waited without end would hang the test
	server.Resume()
	if failed.Load() != callers {
		t.Errorf("%d of %d failed", failed.Load(), callers)
	}
	o, err := s.Change(t.Context(), guild1, nth(1), plus(1))
	// One batch was sent, or not even that.
	if err != nil || o.Before < 100 || o.Before > 100+redisconn.BatchCalls {
		t.Errorf("afterwards: %+v, %v", o, err)
	}
	for waiting, senders := s.Waiting(); waiting+senders > 0; waiting, senders = s.Waiting() {
		time.Sleep(time.Millisecond)
	}
}

// Requests with a name are not sent with others, and one of each name is made beside all those without.
func TestNamedChangesBesideOthers(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		const workers, each = 8, 20
		s := newBoard(client)
		loadGuild(t, s, guild1, nth(1))
		var replays atomic.Int64
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				for i := range each {
					if _, err := s.Change(t.Context(), guild1, nth(1), plus(1)); err != nil {
						t.Error(err)
					}
					named := plus(1000)
					named.Once = leaderboard.Once{Key: leaderboard.Digest{byte(i + 1)}, Request: leaderboard.Digest{byte(i + 1)}}
					o, err := s.Change(t.Context(), guild1, nth(1), named)
					if err != nil || o.After-o.Before != 1000 {
						t.Errorf("worker %d, request %d: %+v, %v", w, i, o, err)
					}
					if o.Replayed {
						replays.Add(1)
					}
				}
			})
		}
		all.Wait()
		m, err := s.Member(t.Context(), guild1, nth(1))
		if want := level.XP(100 + workers*each + each*1000); err != nil || m.XP != want || replays.Load() != (workers-1)*each {
			t.Errorf("%d XP, %v and %d replays, want %d and %d", m.XP, err, replays.Load(), want, (workers-1)*each)
		}
	})
}

// On a cluster a call that was sent elsewhere has only what is left of its patience.
func TestACallWithLittlePatienceCutsNobodyOff(t *testing.T) {
	server := testenv.Redis(t)
	s := newBoard(connect(t, server.URL()))
	loadGuild(t, s, guild1, nth(1))
	b := newBatch(t, s)
	for _, patience := range []time.Duration{time.Minute, time.Millisecond, time.Minute} {
		b.add(func() {
			if _, err := s.Change(pause.WithPatience(b.t.Context(), patience), guild1, nth(1), plus(1)); err != nil && patience == time.Minute {
				t.Errorf("with a patience of %v: %v", patience, err)
			}
		})
	}
	server.Pause()
	resumed := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { server.Resume(); close(resumed) })
	b.send()
	<-resumed
	if m, err := s.Member(t.Context(), guild1, nth(1)); err != nil || m.XP < 102 {
		t.Errorf("%d XP, %v", m.XP, err)
	}
}
