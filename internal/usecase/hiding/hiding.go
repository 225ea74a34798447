// Package hiding takes users off a guild's board by choice, and lists them. Flags are in the archive before the answer. Then this replica copies
// them to the live store, or else the next one that uses the guild (hydrate.CopyHidden). It does not check the caller, and changes no XP.
package hiding

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/leaderboard"
)

// PageSize is the number of users on a page of the list.
const PageSize = 100

// Step sets or lifts one flag of several users.
type Step struct {
	By     hidden.Flags // a single flag
	Hidden bool
	Users  []id.User // at most hidden.MaxStep, all different
}

// InGuild says who hid a user in a guild.
type InGuild struct {
	Guild id.Guild
	Flags hidden.Flags
}

// Archive is what the package needs of Postgres or SQLite.
type Archive interface {
	// SetHidden makes a step. If that changes anything, the same transaction records it in the audit log and appends to the change
	// log. changed is how many users had the flag set or lifted; now is the guild afterwards. It returns guild.ErrNotFound.
	SetHidden(ctx context.Context, g id.Guild, s Step) (now *guild.Guild, changed int64, err error)
	// Hidden lists hidden users by their ids as numbers.
	Hidden(ctx context.Context, g id.Guild, offset, limit int64) ([]hidden.User, error)
}

// Live copies flags to the live store.
type Live interface {
	CopyHidden(ctx context.Context, g leaderboard.GuildRef) error
}

// Board reads entries. Its errors are faults.
type Board interface {
	Stored(ctx context.Context, g *guild.Guild, users []id.User) ([]leaderboard.Member, error)
}

// Hiding holds the use cases. Its errors are faults. It is safe for concurrent use.
type Hiding struct {
	archive  Archive
	live     Live
	board    Board
	announce changes.Announcer
	log      *slog.Logger
}

// New returns the use cases.
func New(archive Archive, live Live, board Board, announce changes.Announcer, log *slog.Logger) *Hiding {
	return &Hiding{archive: archive, live: live, board: board, announce: announce, log: log}
}

// Set makes a step, and returns how many users had the flag set or lifted. A user named twice counts once. It also
// copies the flags to Redis if the step changes nothing: a replica may have made the step and died before its copy.
func (h *Hiding) Set(ctx context.Context, g id.Guild, s Step) (changed int64, err error) {
	s.Users = slices.Compact(slices.Sorted(slices.Values(s.Users)))
	now, changed, err := h.archive.SetHidden(ctx, g, s)
	if err != nil {
		return 0, asFault("hide users", err)
	}
	if err := h.live.CopyHidden(context.WithoutCancel(ctx), leaderboard.Ref(now)); err != nil {
		h.log.WarnContext(ctx, "flags of hidden users could not be copied to Redis; nothing to do, the next request for the guild copies them", "guild", g, "error", err)
	}
	h.announce.Announce(ctx, changes.Guild, string(g))
	return changed, nil
}

// Listed is a hidden user, with their entry if there is one.
type Listed struct {
	hidden.User
	Entry *leaderboard.Member
}

// List lists a page of the hidden users, by their ids as numbers; number is from 1. more reports whether there is another page.
func (h *Hiding) List(ctx context.Context, g *guild.Guild, number int64) (listed []Listed, more bool, err error) {
	users, err := h.archive.Hidden(ctx, g.ID, PageSize*(number-1), PageSize+1)
	if err != nil {
		return nil, false, asFault("list who is hidden", err)
	}
	listed, err = h.withEntries(ctx, g, users[:min(len(users), PageSize)])
	return listed, len(users) > PageSize, err
}

// Find lists at most PageSize hidden users that have this id, or a name with words that begin so, by their ids as
// numbers. more reports whether there are others. It returns an Invalid fault for a text that cannot be in a name.
func (h *Hiding) Find(ctx context.Context, g *guild.Guild, text string) (found []Listed, more bool, err error) {
	user, bad := id.Parse[id.User](text)
	var names leaderboard.Query
	if bad != nil {
		if names, err = leaderboard.ParseQuery(text); err != nil {
			return nil, false, err
		}
	}
	for offset := int64(0); ; offset += hidden.MaxStep {
		users, err := h.archive.Hidden(ctx, g.ID, offset, hidden.MaxStep)
		last := len(users) < hidden.MaxStep
		if bad == nil {
			users = slices.DeleteFunc(users, func(u hidden.User) bool { return u.User != user })
		}
		if err != nil {
			return nil, false, asFault("find who is hidden", err)
		}
		part, err := h.withEntries(ctx, g, users)
		if err != nil {
			return nil, false, err
		}
		for _, l := range part {
			if bad == nil || l.Entry != nil && names.Matches(l.Entry.User) {
				found = append(found, l)
			}
		}
		if last || len(found) > PageSize {
			return found[:min(len(found), PageSize)], len(found) > PageSize, nil
		}
	}
}

// withEntries adds the entries of at most hidden.MaxStep users.
func (h *Hiding) withEntries(ctx context.Context, g *guild.Guild, users []hidden.User) ([]Listed, error) {
	listed, ids := make([]Listed, len(users)), make([]id.User, len(users))
	at := make(map[id.User]int, len(users))
	for i, u := range users {
		listed[i].User, ids[i], at[u.User] = u, u.User, i
	}
	if len(ids) == 0 {
		return listed, nil
	}
	entries, err := h.board.Stored(ctx, g, ids)
	for _, e := range entries {
		listed[at[e.UserID]].Entry = &e
	}
	return listed, err
}

func asFault(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, guild.ErrNotFound):
		return fault.Wrap(err, fault.NotFound, "There is no such guild.")
	default:
		return fault.Down(op, err)
	}
}
