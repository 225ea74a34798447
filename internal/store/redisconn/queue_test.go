package redisconn_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// batch are calls that are sent together in the order in which they were added.
type batch struct {
	t       *testing.T
	store   *board
	release func()
	before  int
	calls   sync.WaitGroup
}

func newBatch(t *testing.T, s *board) *batch {
	return &batch{t: t, store: s, release: s.Hold()}
}

// add starts a call, and returns when the call waits.
func (b *batch) add(call func()) {
	b.t.Helper()
	b.before++
	b.calls.Go(call)
	testenv.Wait(b.t, "a call waits for its turn", func() bool {
		waiting, _ := b.store.Waiting()
		return waiting >= b.before
	})
}

// send sends the calls and waits for their answers.
func (b *batch) send() {
	b.release()
	b.calls.Wait()
	if waiting, senders := b.store.Waiting(); waiting != 0 || senders != 0 {
		b.t.Errorf("at the end %d calls wait and %d goroutines send, want 0 and 0", waiting, senders)
	}
}

func (b *batch) change(g leaderboard.GuildRef, user id.User, c leaderboard.Change) *changed {
	b.t.Helper()
	var got changed
	b.add(func() { got.Outcome, got.err = b.store.Change(b.t.Context(), g, user, c) })
	return &got
}

type changed struct {
	leaderboard.Outcome
	err error
}

func (c *changed) want(t *testing.T, before, after level.XP) {
	t.Helper()
	if c.err != nil || c.Before != before || c.After != after {
		t.Errorf("the outcome is %+v (%v), want %d and then %d", c.Outcome, c.err, before, after)
	}
}

func TestChangesOfOneBatchAreMadeInTheirOrder(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		s := newBoard(client)
		loadGuild(t, s, guild1, nth(1), nth(2))
		b := newBatch(t, s)
		first := b.change(guild1, nth(1), plus(5))
		other := b.change(guild1, nth(2), leaderboard.Change{Op: leaderboard.Decrement, Amount: 101})
		unknown := b.change(guild1, nth(3), plus(7))
		second := b.change(guild1, nth(1), leaderboard.Change{Op: leaderboard.Set, Amount: 0, Cooldown: time.Hour})
		third := b.change(guild1, nth(1), plus(level.MaxXP))
		fourth := b.change(guild1, nth(1), plus(1))
		fifth := b.change(guild1, nth(1), leaderboard.Change{Op: leaderboard.Set, Amount: 3})
		b.send()
		first.want(t, 100, 105)
		other.want(t, 100, 0)
		second.want(t, 105, 0)
		third.want(t, 0, level.MaxXP)
		fourth.want(t, level.MaxXP, level.MaxXP)
		fifth.want(t, level.MaxXP, 3)
		if !errors.Is(unknown.err, leaderboard.ErrNoMember) {
			t.Errorf("a change of an unknown member: %+v (%v), want ErrNoMember", unknown.Outcome, unknown.err)
		}
		v, err := s.Version(t.Context(), guild1)
		if err != nil || v.Rev != 6 {
			t.Errorf("after 6 changes the rev is %d (%v)", v.Rev, err)
		}
		if m, err := s.Member(t.Context(), guild1, nth(3)); !errors.Is(err, leaderboard.ErrNoMember) {
			t.Errorf("the unknown member is %+v (%v), want ErrNoMember", m, err)
		}
		// The set with a cooldown came before changes without one.
		got, _, err := s.Award(t.Context(), guild1, leaderboard.Awards{
			Cooldown: time.Hour, Members: []leaderboard.Award{{User: nth(1), Offers: []level.XP{1}}, {User: nth(2), Offers: []level.XP{1}}},
		})
		if err != nil || got[0].Gained[0] != 0 || got[1].Gained[0] != 1 {
			t.Errorf("messages after the batch gave %+v (%v), want 0 during the cooldown, and 1", got, err)
		}
	})
}

func TestADamagedMemberFailsNoOtherCall(t *testing.T) {
	onBothRedis(t, func(t *testing.T, client *redisconn.Client) {
		ctx := t.Context()
		s := newBoard(client)
		loadGuild(t, s, guild1, nth(1), nth(2), nth(3), nth(4))
		client.HSet(ctx, prefix+"entry", string(nth(2)), "1 2")
		client.ZAdd(ctx, prefix+"xp", redis.Z{Score: 1.5, Member: string(nth(3))})
		client.ZAdd(ctx, prefix+"xp", redis.Z{Score: 1e300, Member: string(nth(4))})
		b := newBatch(t, s)
		var damaged []*changed
		for n := 2; n <= 4; n++ {
			damaged = append(damaged, b.change(guild1, nth(n), plus(1)))
		}
		whole := b.change(guild1, nth(1), plus(1))
		again := b.change(guild1, nth(1), plus(1))
		var reads [4]error
		for n := range reads {
			b.add(func() { _, reads[n] = s.Member(ctx, guild1, nth(n+1)) })
		}
		b.send()
		whole.want(t, 100, 101)
		again.want(t, 101, 102)
		for i, d := range damaged {
			if d.err == nil || errors.Is(d.err, leaderboard.ErrNoMember) {
				t.Errorf("changing the damaged member %d: %+v (%v), want an error other than ErrNoMember", i+2, d.Outcome, d.err)
			}
		}
		for n, err := range reads {
			if (err == nil) != (n == 0) {
				t.Errorf("reading member %d: %v, want an error for damaged members only", n+1, err)
			}
		}
		if text := client.HGet(ctx, prefix+"entry", string(nth(2))).Val(); text != "1 2" {
			t.Errorf("the damaged entry became %q, want it unchanged", text)
		}
		if v, err := s.Version(ctx, guild1); err != nil || v.Rev != 2 {
			t.Errorf("after 2 changes the rev is %d (%v)", v.Rev, err)
		}
		c := plus(1)
		c.Once = leaderboard.Once{Key: leaderboard.Digest{1}, Request: leaderboard.Digest{2}}
		if o, err := s.Change(ctx, guild1, nth(2), c); err == nil {
			t.Errorf("a named change of a damaged member: %+v, want an error", o)
		}
		client.HSet(ctx, prefix+"entry", string(nth(2)), "1\x002\x000\x00\x00\x00\x00\x00\x00")
		if o, err := s.Change(ctx, guild1, nth(2), c); err != nil || o.After != 101 || o.Replayed {
			t.Errorf("the same request after the repair: %+v (%v), want 101 XP and no replay", o, err)
		}
	})
}

// seen counts commands by their first word, and pipelines.
type seen struct {
	mu        sync.Mutex
	commands  map[string]int
	pipelines int
}

func watch(client *redisconn.Client) *seen {
	s := &seen{commands: map[string]int{}}
	client.AddHook(s)
	return s
}

func (s *seen) note(cmds ...redis.Cmder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, cmd := range cmds {
		s.commands[cmd.Name()]++
	}
}

func (s *seen) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *seen) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		s.note(cmd)
		return next(ctx, cmd)
	}
}

func (s *seen) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		s.note(cmds...)
		s.mu.Lock()
		s.pipelines++
		s.mu.Unlock()
		return next(ctx, cmds)
	}
}

func TestCallsOfManyGuildsShareARoundTrip(t *testing.T) {
	client := connect(t, testenv.Redis(t).URL())
	s := newBoard(client)
	loadGuild(t, s, guild1, nth(1), nth(2))
	loadGuild(t, s, guildNo(2), nth(1))
	seen := watch(client)
	for round := range 2 {
		b := newBatch(t, s)
		for n := range 20 {
			b.change(guild1, nth(1+n%2), plus(1))
			b.change(guildNo(2), nth(1), plus(1))
		}
		b.send()
		if seen.pipelines != round+1 || seen.commands["evalsha"] != 40*(round+1) {
			t.Errorf("after round %d there were %d pipelines with %v, want %d with 40 scripts each", round+1, seen.pipelines, seen.commands, round+1)
		}
	}
	guilds, err := s.ChangedGuilds(t.Context())
	slices.Sort(guilds)
	want := []id.Guild{guild1.ID, guildNo(2).ID}
	slices.Sort(want)
	if err != nil || !slices.Equal(guilds, want) {
		t.Errorf("the changed guilds are %v (%v), want %v", guilds, err, want)
	}
}

// A script that the server knows runs once. An unknown one is sent again.
func TestUnknownScriptsOfABatchAreSentAgain(t *testing.T) {
	for _, known := range []string{"change", "version", "page"} {
		t.Run(known, func(t *testing.T) {
			client := connect(t, testenv.Redis(t).URL())
			s := newBoard(client)
			loadGuild(t, s, guild1, nth(1))
			loadGuild(t, s, guildNo(2), nth(1))
			ok(t, client.LoadOnly(t.Context(), known))
			b := newBatch(t, s)
			var errs [2]error
			b.add(func() { _, errs[0] = s.Member(t.Context(), guild1, nth(1)) })
			var changes []*changed
			for range 5 {
				changes = append(changes, b.change(guild1, nth(1), plus(1)))
			}
			elsewhere := b.change(guildNo(2), nth(1), plus(1))
			b.add(func() { _, errs[1] = s.Version(t.Context(), guild1) })
			b.send()
			for i, c := range changes {
				c.want(t, level.XP(100+i), level.XP(101+i))
			}
			elsewhere.want(t, 100, 101)
			if errs != [2]error{} {
				t.Errorf("the reads failed with %v, want none", errs)
			}
			if v, err := s.Version(t.Context(), guild1); err != nil || v.Rev != 5 {
				t.Errorf("after 5 changes the rev is %d (%v)", v.Rev, err)
			}
		})
	}
}

// A missing guild, or one with another incarnation, is an error for its own callers only.
func TestARefusalConcernsItsGuildOnly(t *testing.T) {
	s := newBoard(connect(t, testenv.Redis(t).URL()))
	loadGuild(t, s, guild1, nth(1))
	old := guild1
	old.Incarnation--
	b := newBatch(t, s)
	gone := b.change(guildNo(2), nth(1), plus(1))
	older := b.change(old, nth(1), plus(1))
	good := b.change(guild1, nth(1), plus(1))
	b.send()
	good.want(t, 100, 101)
	for _, c := range []*changed{gone, older} {
		if !errors.Is(c.err, leaderboard.ErrNotLoaded) {
			t.Errorf("the change: %+v (%v), want ErrNotLoaded", c.Outcome, c.err)
		}
	}
}
