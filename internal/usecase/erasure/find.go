package erasure

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Find returns all that is stored about a user, or a NotFound fault if nothing is. It searches each guild in Redis.
func (e *Eraser) Find(ctx context.Context, user id.User) (Stored, error) {
	loaded, err := e.live.LoadedGuilds(ctx)
	if err != nil {
		return Stored{}, fault.Down("find a user", err)
	}
	found, err := e.find(ctx, user, loaded)
	if err == nil {
		if found.Traces, err = e.archive.TracesOf(ctx, user); err != nil {
			err = fault.Down("find a user", err)
		}
	}
	if err == nil && found.Nothing() {
		err = fault.New(fault.NotFound, "Nothing is stored about this user.")
	}
	return found, err
}

func guildsOf(entries []Membership) []leaderboard.GuildRef {
	refs := make([]leaderboard.GuildRef, len(entries))
	for i := range entries {
		refs[i] = entries[i].Guild
	}
	return refs
}

// Known is Find for a page, which any user may open. It searches only the guilds that the archive names, so it lacks a guild
// that the user joined since the last snapshot. It does not look for Traces. If nothing is stored, it returns no error.
func (e *Eraser) Known(ctx context.Context, user id.User) (Stored, error) {
	return e.find(ctx, user, nil)
}

func (e *Eraser) find(ctx context.Context, user id.User, loaded []id.Guild) (Stored, error) {
	found, err := e.archive.StoredOf(ctx, user)
	if err == nil {
		found.Sessions, err = e.live.CountSessions(ctx, user)
	}
	known := map[leaderboard.GuildRef]Membership{}
	for _, m := range found.Guilds {
		known[m.Guild] = m
		loaded = append(loaded, m.Guild.ID)
	}
	slices.Sort(loaded)
	loaded = slices.Compact(loaded)
	var current []Membership
	if err == nil {
		current, err = e.live.Entries(ctx, loaded, user)
	}
	current = slices.DeleteFunc(current, func(m Membership) bool { return m.Row.Deleted && known[m.Guild].Guild.ID == "" })
	var states map[leaderboard.GuildRef]snapshot.State
	if err == nil {
		states, err = e.archive.States(ctx, guildsOf(current))
	}
	if err != nil {
		return Stored{}, fault.Down("find a user", err)
	}
	for _, m := range current {
		if _, exists := states[m.Guild]; exists {
			known[m.Guild] = m
		}
	}
	found.Guilds, err = e.leveled(ctx, known)
	return found, err
}

// leveled returns the entries with levels and names of their guilds. It leaves out guilds that were deleted meanwhile.
func (e *Eraser) leveled(ctx context.Context, entries map[leaderboard.GuildRef]Membership) (all []Membership, err error) {
	for _, m := range entries {
		if m.Row.Deleted {
			continue
		}
		g, err := e.archive.Guild(ctx, m.Guild.ID)
		if errors.Is(err, guild.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fault.Down("find a user", err)
		}
		m.Level, m.Name = g.Curve.LevelAt(m.Row.XP), g.Name
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Membership) int { return cmp.Compare(a.Guild.ID, b.Guild.ID) })
	return all, nil
}
