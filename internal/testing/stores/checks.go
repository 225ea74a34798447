package stores

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// LiveRows returns the guild's members in Redis, with cooldowns, ordered by id.
func (w *World) LiveRows(g leaderboard.GuildRef) []snapshot.Row {
	w.Helper()
	p, err := w.Live.Page(w.Context(), g, 0, 1_000_000)
	w.Must(err)
	entries := w.Redis.HGetAll(w.Context(), "lb:{"+string(g.ID)+"}:entry").Val()
	rows := make([]snapshot.Row, len(p.Rows))
	for i, row := range p.Rows {
		rows[i].Member = row.Member
		if until, err := strconv.ParseInt(strings.Split(entries[string(row.UserID)], "\x00")[2], 10, 64); err != nil {
			w.Fatal(err)
		} else if until > 0 {
			rows[i].CooldownUntil = time.UnixMilli(until).UTC()
		}
	}
	slices.SortFunc(rows, func(a, b snapshot.Row) int { return strings.Compare(string(a.UserID), string(b.UserID)) })
	return rows
}

// ArchivedRows returns the guild's members in the archive, ordered by id.
func (w *World) ArchivedRows(g leaderboard.GuildRef) []snapshot.Row {
	w.Helper()
	rows, err := w.Archive.Members(w.Context(), g, "", 1_000_000)
	w.Must(err)
	return rows
}

// State returns the archive's state of the guild.
func (w *World) State(g leaderboard.GuildRef) snapshot.State {
	w.Helper()
	s, err := w.Archive.State(w.Context(), g)
	w.Must(err)
	return s
}

// meta returns a field of the guild's meta in Redis, or "".
func (w *World) meta(g leaderboard.GuildRef, field string) string {
	w.Helper()
	s, err := w.Redis.HGet(w.Context(), "lb:{"+string(g.ID)+"}:meta", field).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		w.Fatal(err)
	}
	return s
}

// InStep fails the test unless the archive has exactly what Redis has, and both have the same rev.
func (w *World) InStep(g leaderboard.GuildRef) {
	w.Helper()
	live, archived := w.LiveRows(g), w.ArchivedRows(g)
	if len(live) != len(archived) {
		w.Fatalf("Redis has %d members and the archive %d", len(live), len(archived))
	}
	for i := range live {
		if !reflect.DeepEqual(live[i], archived[i]) {
			w.Fatalf("the archive has %+v\n   Redis has %+v", archived[i], live[i])
		}
	}
	v, err := w.Live.Version(w.Context(), g)
	w.Must(err)
	s := w.State(g)
	if got := w.meta(g, "archived"); got != fmt.Sprint(s.Archived) || s.Archived != v.Rev || s.Epoch != v.Epoch {
		w.Errorf("meta says archived %s, the archive's state is %+v and Redis' version %+v, want the same rev and epoch", got, s, v)
	}
	if !w.NothingWaits(g) || w.meta(g, "pending") != "" {
		w.Errorf("changes wait for a snapshot or are being written: pending is %q", w.meta(g, "pending"))
	}
}

// ReadChanges reads a page of the guild's changes.
func (w *World) ReadChanges(g leaderboard.GuildRef) snapshot.Page {
	return w.Live.ReadChanges(w.Context(), []id.Guild{g.ID}, 100)[0]
}

// NothingWaits reports whether no change of the guild waits for a snapshot or is being written.
func (w *World) NothingWaits(g leaderboard.GuildRef) bool {
	w.Helper()
	return w.Redis.ZCard(w.Context(), "lb:{"+string(g.ID)+"}:dirty").Val() == 0 && w.Redis.XLen(w.Context(), "lb:{"+string(g.ID)+"}:journal").Val() == 0
}

// NotLoaded fails the test if the guild is loaded.
func (w *World) NotLoaded(g leaderboard.GuildRef) {
	w.Helper()
	if m, err := w.Live.Member(w.Context(), g, User(0)); !errors.Is(err, leaderboard.ErrNotLoaded) {
		w.Errorf("reading a member gave %+v (%v), want ErrNotLoaded", m, err)
	}
}

// NoTraces fails the test if a lock or a part of a load is left.
func (w *World) NoTraces(g leaderboard.GuildRef) {
	w.Helper()
	for _, name := range []string{"hydrating", "load:*"} {
		if keys := w.Redis.Keys(w.Context(), "lb:{"+string(g.ID)+"}:"+name).Val(); len(keys) > 0 {
			w.Errorf("Redis still has the keys %v", keys)
		}
	}
}

// XPs loads the guild and returns the XP of each member.
func (w *World) XPs(g leaderboard.GuildRef) map[id.User]level.XP {
	w.Helper()
	w.Must(w.Hydrator(&Faults{}).Load(w.Context(), g))
	xps := map[id.User]level.XP{}
	for _, row := range w.LiveRows(g) {
		xps[row.UserID] = row.XP
	}
	return xps
}

// WantXPs fails the test unless members 0, 1 and so on have these XP. A negative number means no entry.
func (w *World) WantXPs(g leaderboard.GuildRef, want ...level.XP) {
	w.Helper()
	got := w.XPs(g)
	for i, xp := range want {
		if found, ok := got[User(i)]; xp < 0 && ok || xp >= 0 && found != xp {
			w.Errorf("member %d has %d XP (exists: %v), want %d", i, found, ok, xp)
		}
	}
}
