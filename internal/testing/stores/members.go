package stores

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/storetest"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// User returns the id of member i.
func User(i int) id.User { return id.User(fmt.Sprintf("3%017d", i)) }

// Guild creates a guild in the archive and loads it.
func (w *World) Guild(g id.Guild) leaderboard.GuildRef {
	w.Helper()
	ref := leaderboard.Ref(storetest.PutGuild(w.T, w.Archive, g))
	w.Must(w.Hydrator(&Faults{}).Load(w.Context(), ref))
	return ref
}

// Archived creates a guild with n members that only the archive has.
func (w *World) Archived(g id.Guild, n int) leaderboard.GuildRef {
	w.Helper()
	ref := leaderboard.Ref(storetest.PutGuild(w.T, w.Archive, g))
	avatar, global, accent := "a_0123456789abcdef0123456789abcdef", "", "#00add8"
	rows := make([]snapshot.Row, n)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{
			UserID: User(i), XP: level.XP((i * 7919) % 1_000_003), MessageCount: int64(i), LastUpdated: time.UnixMilli(1767225600000 + int64(i)).UTC(),
			User: leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", i)},
		}}
		if i%3 == 0 {
			rows[i].User.Avatar, rows[i].User.GlobalName, rows[i].User.AccentColour = &avatar, &global, &accent
			rows[i].CooldownUntil = time.UnixMilli(1767225600500).UTC()
		}
	}
	w.Must(w.Writer("importer", Never, &Faults{}).Import(w.Context(), ref, rows))
	w.Killed("importer")
	return ref
}

// Create makes an entry for member i.
func (w *World) Create(g leaderboard.GuildRef, i int, xp level.XP) {
	w.Helper()
	global, avatar, accent := fmt.Sprintf("Gopher %d", i), strings.Repeat("ab", 16), "#00add8"
	data := leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", i)}
	if i%2 == 0 {
		data.GlobalName, data.Avatar, data.AccentColour = &global, &avatar, &accent
	}
	_, err := w.Live.Create(w.Context(), g, User(i), leaderboard.Creation{XP: xp, User: data})
	w.Must(err)
}

// Change changes member i.
func (w *World) Change(g leaderboard.GuildRef, i int, c leaderboard.Change) {
	w.Helper()
	_, err := w.Live.Change(w.Context(), g, User(i), c)
	w.Must(err)
}

// CreateMany creates n members, numbered from from.
func (w *World) CreateMany(g leaderboard.GuildRef, from, n int, xp level.XP) {
	w.Helper()
	w.put(g, leaderboard.PutSet, from, n, xp)
}

// AddToAll adds 1 XP to each of the first n members.
func (w *World) AddToAll(g leaderboard.GuildRef, n int) {
	w.Helper()
	w.put(g, leaderboard.PutAdd, 0, n, 1)
}

func (w *World) put(g leaderboard.GuildRef, mode leaderboard.PutMode, from, n int, xp level.XP) {
	w.Helper()
	members := make([]leaderboard.Put, n)
	for i := range members {
		members[i] = leaderboard.Put{User: User(from + i), XP: xp, Data: &leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", from+i)}}
	}
	for step := range slices.Chunk(members, leaderboard.MaxAwards) {
		_, _, err := w.Live.Put(w.Context(), g, leaderboard.Puts{Mode: mode, Members: step})
		w.Must(err)
	}
}

// Add adds 1 XP to member i.
func (w *World) Add(g leaderboard.GuildRef, i int) {
	w.Helper()
	w.Change(g, i, leaderboard.Change{Op: leaderboard.Increment, Amount: 1})
}

// Remove deletes member i.
func (w *World) Remove(g leaderboard.GuildRef, i int) {
	w.Helper()
	_, err := w.Live.Delete(w.Context(), g, User(i), leaderboard.Removal{})
	w.Must(err)
}
