package storetest

import (
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

var evictCases = []boardCase{
	{"a survey lists changed and cold guilds", survey},
	{"a cold guild is evicted", evictCold},
	{"a guild that is not cold stays", evictNotCold},
	{"a use makes a guild warm", usedIsWarm},
	{"a request repeated after an eviction", repeatedAfterEviction},
}

// soon is an idle time that has passed at once, later one that no test reaches.
const soon, later = time.Millisecond, 10 * time.Hour

// plusOne is a change whose kind does not matter.
var plusOne = leaderboard.Change{Op: leaderboard.Increment, Amount: 1}

// survey returns what a survey says about the guild.
func (b *board) survey(idle time.Duration) (changed bool, cold []snapshot.Quiet) {
	b.Helper()
	seen, err := b.Survey(b.Context(), []id.Guild{b.g.ID}, idle)
	b.must(err)
	return slices.Equal(seen.Changed, []id.Guild{b.g.ID}), seen.Cold
}

// cold waits until the guild has been idle for this long.
func (b *board) cold(idle time.Duration) snapshot.Quiet {
	b.Helper()
	var cold []snapshot.Quiet
	testenv.Wait(b, "the guild becomes cold", func() bool {
		_, cold = b.survey(idle)
		return len(cold) == 1
	})
	return cold[0]
}

func (b *board) evict(c snapshot.Quiet, idle time.Duration) (gone bool) {
	b.Helper()
	gone, err := b.Evict(b.Context(), c, idle)
	b.must(err)
	return gone
}

func survey(b *board) {
	if changed, cold := b.survey(soon); changed || len(cold) > 0 {
		b.Errorf("a guild that is not loaded is changed %v and cold %v", changed, cold)
	}
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1))
	if c, want := b.cold(soon), (snapshot.Quiet{Guild: b.g, State: snapshot.State{Epoch: 4, Archived: 10}}); c != want {
		b.Errorf("the cold guild is %+v, want %+v", c, want)
	}
	for _, idle := range []time.Duration{0, later} {
		if changed, cold := b.survey(idle); changed || len(cold) > 0 {
			b.Errorf("idle for less than %v, the guild is changed %v and cold %v", idle, changed, cold)
		}
	}
	b.change(userN(1), plusOne)
	if changed, cold := b.survey(soon); !changed || len(cold) > 0 {
		b.Errorf("a changed guild is changed %v and cold %v, want true and none", changed, cold)
	}
	p := b.changesPage(10)
	if changed, cold := b.survey(soon); !changed || len(cold) > 0 {
		b.Errorf("a guild whose batch was read is changed %v and cold %v, want true and none", changed, cold)
	}
	b.end(p.Batch)
	if changed, cold := b.survey(soon); changed || len(cold) != 1 {
		b.Errorf("an archived guild is changed %v and cold %v, want false and one", changed, cold)
	}

	// Each of many guilds is reported once.
	var guilds, want []id.Guild
	for i := range 1200 {
		g := leaderboard.GuildRef{ID: id.Guild("3" + string(userN(i))[1:]), Incarnation: 1}
		guilds = append(guilds, g.ID)
		if i%100 == 0 {
			b.hydrate(g, snapshot.State{Epoch: 1}, rowN(1, 1))
			_, err := b.Change(b.Context(), g, userN(1), plusOne)
			b.must(err)
			want = append(want, g.ID)
		}
	}
	seen, err := b.Survey(b.Context(), guilds, later)
	slices.Sort(seen.Changed)
	if slices.Sort(want); err != nil || len(seen.Cold)+len(seen.Unverified) > 0 || !slices.Equal(seen.Changed, want) {
		b.Errorf("%d guilds have changed, %d are unverified and %d cold (%v), want %d, 0 and 0", len(seen.Changed), len(seen.Unverified), len(seen.Cold), err, len(want))
	}
}

func evictCold(b *board) {
	ctx := b.Context()
	until := time.Now().Add(time.Hour).Truncate(time.Millisecond).UTC()
	row := rowN(1, 5)
	row.CooldownUntil = until
	b.load(row, rowN(2, 7))
	if !b.evict(b.cold(soon), soon) {
		b.Fatal("a cold guild was not evicted")
	}
	_, err := b.Version(ctx, b.g)
	b.wants("after it has left", err, leaderboard.ErrNotLoaded)
	if guilds, err := b.LoadedGuilds(ctx); err != nil || len(guilds) != 0 {
		b.Errorf("after the eviction %v are loaded (%v), want none", guilds, err)
	}
	b.nothingWaits()
	b.must(b.NoteUses(ctx, []id.Guild{b.g.ID}))
	if changed, cold := b.survey(soon); changed || len(cold) > 0 {
		b.Errorf("an evicted guild is changed %v and cold %v", changed, cold)
	}
	if b.evict(snapshot.Quiet{Guild: b.g, State: snapshot.State{Epoch: 1}}, soon) {
		b.Error("a guild was evicted twice")
	}
	b.hydrate(b.g, snapshot.State{Epoch: 2}, row, rowN(2, 7))
	if p := b.page(0, 10); len(p.Rows) != 2 || p.Version != (leaderboard.Version{Epoch: 2}) {
		b.Errorf("after the next load the page is %+v, want 2 rows at epoch 2", p)
	}
	// The cooldown has not ended.
	b.award(leaderboard.Awards{Members: []leaderboard.Award{offer(userN(1), 20)}, Cooldown: time.Minute}, gave(5, 1, 0))
}

func evictNotCold(b *board) {
	ctx := b.Context()
	b.hydrate(b.g, snapshot.State{Epoch: 4, Archived: 10}, rowN(1, 1))
	seen := b.cold(soon)
	stays := func(why string, c snapshot.Quiet, idle time.Duration) {
		b.Helper()
		if b.evict(c, idle) {
			b.Fatalf("a guild was evicted, though %s", why)
		}
		_, err := b.Version(ctx, b.g)
		b.must(err)
	}
	stays("it was used within ten hours", seen, later)
	wrong := seen
	wrong.State.Archived = 9
	stays("the archive holds less", wrong, soon)
	wrong.State.Archived = 11
	stays("the archive holds more", wrong, soon)
	wrong = seen
	wrong.State.Epoch = 3
	stays("of another load", wrong, soon)
	wrong = seen
	wrong.Guild.Incarnation++
	stays("of another incarnation", wrong, soon)

	b.change(userN(1), plusOne)
	stays("it has changed since it was seen", seen, soon)
	moved := seen
	moved.State.Archived = 11
	stays("what has changed is not archived", moved, soon)
	p := b.changesPage(10)
	stays("a batch is on its way to the archive", moved, soon)
	b.end(p.Batch)
	if !b.evict(moved, soon) {
		b.Error("an archived guild was not evicted")
	}
}

func usedIsWarm(b *board) {
	b.load(rowN(1, 1))
	const idle = 200 * time.Millisecond
	cold := b.cold(idle)
	for {
		noted := time.Now()
		b.must(b.NoteUses(b.Context(), []id.Guild{"900000000000000009", b.g.ID}))
		gone := b.evict(cold, idle)
		if time.Since(noted) >= idle { // the machine was too busy
			if gone {
				b.load(rowN(1, 1))
				cold = b.cold(idle)
			}
			continue
		}
		if gone {
			b.Error("a guild was evicted although it was used")
		}
		break
	}
	if guilds, err := b.LoadedGuilds(b.Context()); err != nil || !slices.Equal(guilds, []id.Guild{b.g.ID}) {
		b.Errorf("%v are loaded (%v), want one: noting a use must not load a guild", guilds, err)
	}
}

func repeatedAfterEviction(b *board) {
	b.load(rowN(1, 100))
	first := b.change(userN(1), plus(5, "key"))
	b.flushAll()
	c := b.cold(soon)
	if !b.evict(c, soon) {
		b.Fatal("the guild was not evicted")
	}
	row := rowN(1, 105)
	b.hydrate(b.g, snapshot.State{Epoch: c.State.Epoch + 1, Archived: c.State.Archived}, row)
	again := b.change(userN(1), plus(5, "key"))
	first.Replayed = true
	if again != first || b.member(userN(1)).XP != 105 {
		b.Errorf("the repeated request is %+v, want %+v and 105 XP", again, first)
	}
}
