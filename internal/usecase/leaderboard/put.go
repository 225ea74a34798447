package leaderboard

import (
	"context"
	"slices"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/audit"
)

// PutMode says how a Put changes an entry. Each mode creates a missing one.
type PutMode string

// The modes.
const (
	PutSet     PutMode = "set"     // sets XP and message count
	PutHigher  PutMode = "higher"  // raises a lower XP or message count
	PutAdd     PutMode = "add"     // adds, up to level.MaxXP
	PutMissing PutMode = "missing" // leaves the entry as it is
)

// PutModes are all modes.
var PutModes = []PutMode{PutSet, PutHigher, PutAdd, PutMissing}

// Put is the change of one member.
type Put struct {
	User         id.User
	XP           level.XP
	MessageCount *int64       // nil leaves it; a new entry gets 0
	Data         *User        // nil leaves it; a new entry gets no user data
	Hidden       hidden.Flags // flags that an Import sets even if the entry does not change
	Absent       bool         // takes the member off the board without an event, unless PutMissing leaves the entry as it is
}

// Puts are the changes of one step, to at most MaxAwards different members. An absent member stays absent.
type Puts struct {
	Mode    PutMode
	Members []Put
	Curve   *level.Curve // as in Creation
	Days    *period.Days // as in Change; only PutAdd counts gains
	Once    Once         // as in Awards
	Audit   *audit.Entry // as in Change; recorded if the step changes anything
	// Import says that the changes create no events and count no gains: a Leaderboard leaves out Curve and Days.
	Import bool
}

// PutState is the result of a Put for one member.
type PutState string

// The states.
const (
	Created   PutState = "created"
	Changed   PutState = "changed"
	Unchanged PutState = "unchanged" // XP, message count and user data are as before
)

// Done is the result for one member.
type Done struct {
	State        PutState
	XP           level.XP
	MessageCount int64
}

// Put changes many members. The results are in their order. Steps, repeats and errors are those of Award.
func (l *Leaderboard) Put(ctx context.Context, g *guild.Guild, p Puts) (done []Done, replayed bool, err error) {
	step := Puts{Mode: p.Mode, Import: p.Import}
	if err := l.hideImported(ctx, g, p); err != nil {
		return nil, false, err
	}
	if !p.Import {
		step.Curve, step.Days, step.Audit = &g.Curve, l.daysOf(g), callOf(ctx, audit.Bulk, len(p.Members))
	}
	return inSteps(ctx, l, g, "put members", p.Members, p.Once, func(part []Put, once Once) ([]Done, bool, error) {
		step.Members, step.Once = part, once
		done, replayed, err := l.board.Put(ctx, Ref(g), step)
		if slices.ContainsFunc(done, func(d Done) bool { return d.State != Unchanged }) {
			step.Audit = nil // the first step that changes anything records the call, in this run or an earlier one
		}
		return done, replayed, err
	})
}

// hideImported sets the flags of an import. It runs before the entries are written, so that a hidden member is never shown.
func (l *Leaderboard) hideImported(ctx context.Context, g *guild.Guild, p Puts) error {
	for _, flag := range []hidden.Flags{hidden.ByManager, hidden.BySelf} {
		var users []id.User
		for _, m := range p.Members {
			if m.Hidden&flag != 0 {
				users = append(users, m.User)
			}
		}
		if p.Import && l.hide != nil && len(users) > 0 {
			if err := l.hide(ctx, g.ID, flag, users); err != nil {
				return err
			}
		}
	}
	return nil
}

// callOf returns the audit entry for a call about many members, or nil for a call without an actor.
func callOf(ctx context.Context, action audit.Action, members int) *audit.Entry {
	count := int64(members)
	return audit.EntryOf(ctx, audit.Entry{Action: action, Count: &count})
}

// Presence says which members are in the guild, or that they are not.
type Presence struct {
	Present bool
	Users   []id.User    // at most MaxAwards, all different
	Days    *period.Days // as in Change
	Audit   *audit.Entry // as in Puts
}

// Moved is the result of a Presence.
type Moved struct {
	Changed int64     `json:"changed"` // members whose presence changed
	Missing []id.User `json:"missing"` // users without an entry
}

// SetPresence takes members off the board or brings them back, in steps of
// MaxAwards. If a step fails, earlier steps were made. The call may be repeated.
func (l *Leaderboard) SetPresence(ctx context.Context, g *guild.Guild, p Presence) (all Moved, err error) {
	step := Presence{Present: p.Present, Audit: callOf(ctx, audit.Presence, len(p.Users))}
	for part := range slices.Chunk(p.Users, MaxAwards) {
		step.Users = part
		moved, err := loaded(ctx, l, g, "set the presence of members", func() (Moved, error) {
			step.Days = l.daysOf(g)
			return l.board.SetPresence(ctx, Ref(g), step)
		})
		if err != nil {
			return all, afterSteps(err, all.Changed > 0, "repeat the request, which is safe.")
		}
		if moved.Changed > 0 {
			step.Audit = nil
		}
		all.Changed, all.Missing = all.Changed+moved.Changed, append(all.Missing, moved.Missing...)
	}
	return all, nil
}
