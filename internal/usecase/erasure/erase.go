package erasure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// guildsAtOnce is how many guilds one call searches.
const guildsAtOnce = 500

// always is later than any update.
var always = time.UnixMilli(1 << 60)

// erase makes the remaining steps of an erasure. A repeated step erases only what the user has added meanwhile.
func (e *Eraser) erase(ctx context.Context, o Open) error {
	keys, err := e.archive.EraseKeys(ctx, o.User)
	if err != nil {
		return err
	}
	for _, key := range keys {
		e.announce.Announce(ctx, changes.Key, key)
	}
	if err := e.live.EraseAccess(ctx, o.User, keys); err != nil {
		return err
	}
	lifted, err := e.archive.LiftHidden(ctx, o.User)
	for _, g := range lifted {
		e.announce.Announce(ctx, changes.Guild, string(g.ID))
		if err := e.loader.Load(ctx, g); err != nil && !errors.Is(err, leaderboard.ErrGuildMoved) {
			return err
		}
	}
	if err != nil {
		return err
	}
	if o.At.IsZero() {
		if o.At, err = e.search(ctx, o.User); err != nil {
			return err
		}
	}
	for {
		requests, err := e.archive.RequestsOf(ctx, o.User)
		if err == nil {
			err = e.live.EraseRequests(ctx, requests)
		}
		all := false
		if err == nil {
			all, err = e.archive.EraseRows(ctx, o)
		}
		if err != nil {
			return err
		}
		if all {
			break
		}
		// A checkpoint was restored meanwhile.
		if err := e.eraseMembers(ctx, o.User, o.At); err != nil {
			return err
		}
	}
	// Erase events last: until the user's rows are deleted, a closing period may still announce the user.
	if err := e.live.EraseEvents(ctx, o.User); err != nil {
		return err
	}
	return e.archive.EndErasure(ctx, o)
}

// search erases the user from all that Redis holds, and from the guilds that it must load for that. It returns the time when this was done.
func (e *Eraser) search(ctx context.Context, user id.User) (at time.Time, err error) {
	loaded, err := e.live.LoadedGuilds(ctx)
	var noted []Searched
	for from := 0; err == nil && from < len(loaded); from += guildsAtOnce {
		var found []Searched
		found, err = e.eraseFrom(ctx, loaded[from:min(from+guildsAtOnce, len(loaded))], user, false)
		noted = append(noted, found...)
	}
	if err == nil {
		err = e.archived(ctx, user, noted)
	}
	if err == nil {
		err = e.eraseMembers(ctx, user, always)
	}
	if err == nil {
		at, err = e.live.Clock(ctx)
	}
	if err == nil {
		err = e.archive.NoteSearched(ctx, user, at)
	}
	return at, err
}

// eraseMembers erases the entries in the archive, and waits until they are gone.
func (e *Eraser) eraseMembers(ctx context.Context, user id.User, until time.Time) error {
	refs, err := e.archive.MemberOf(ctx, user, until)
	if err != nil {
		return err
	}
	var noted []Searched
	for _, g := range refs {
		err := e.loader.Load(ctx, g)
		if errors.Is(err, leaderboard.ErrGuildMoved) {
			continue
		}
		var found []Searched
		if err == nil {
			found, err = e.eraseFrom(ctx, []id.Guild{g.ID}, user, true)
		}
		if err != nil {
			return err
		}
		noted = append(noted, found...)
	}
	return e.archived(ctx, user, noted)
}

// eraseFrom erases a user from guilds in Redis. It first loads those that Redis has not compared with the archive.
func (e *Eraser) eraseFrom(ctx context.Context, guilds []id.Guild, user id.User, always bool) (noted []Searched, err error) {
	for len(guilds) > 0 {
		var again []id.Guild
		for _, s := range e.live.EraseMember(ctx, guilds, user, always) {
			switch {
			case s.Err != nil:
				return nil, s.Err
			case s.Unverified:
				loaded, err := e.load(ctx, s.Guild)
				if err != nil {
					return nil, err
				}
				if loaded {
					again = append(again, s.Guild.ID)
				}
			case s.Noted:
				noted = append(noted, s)
			}
		}
		guilds = again
	}
	return noted, nil
}

// load loads a guild. If the guild no longer exists, it drops it from Redis.
func (e *Eraser) load(ctx context.Context, g leaderboard.GuildRef) (loaded bool, err error) {
	err = e.loader.Load(ctx, g)
	if errors.Is(err, leaderboard.ErrGuildMoved) {
		return false, e.live.Drop(ctx, g)
	}
	if err != nil {
		return false, fmt.Errorf("load guild %s: %w", g.ID, err)
	}
	return true, nil
}

// archived waits until the archive holds the deletions. If Redis has loaded a guild again meanwhile, it erases the
// user there again. For a guild that is not in Redis, EraseRows deletes the rows. It returns snapshot.ErrNotArchived.
func (e *Eraser) archived(ctx context.Context, user id.User, noted []Searched) error {
	type progress struct {
		guilds   int
		archived int64
	}
	var wait snapshot.Wait[progress]
	for len(noted) > 0 {
		guilds := make([]id.Guild, len(noted))
		for i := range noted {
			guilds[i] = noted[i].Guild.ID
		}
		states, err := e.live.Archived(ctx, guilds)
		if err != nil {
			return err
		}
		var waiting []Searched
		var seen progress
		for i, s := range noted {
			seen.archived += states[i].Archived
			switch state := states[i]; {
			case state.Epoch == s.Epoch && state.Archived < s.Rev:
				waiting = append(waiting, s)
			case state.Epoch != s.Epoch:
				again, err := e.eraseFrom(ctx, []id.Guild{s.Guild.ID}, user, true)
				if err != nil {
					return err
				}
				waiting = append(waiting, again...)
			}
		}
		if len(waiting) > 0 {
			seen.guilds = len(waiting)
			if err := wait.Again(ctx, seen); err != nil {
				return err
			}
		}
		noted = waiting
	}
	return nil
}

const (
	// leastPause and mostPause bound the pause between two rounds of Run. Within them it is the pause between two snapshots.
	leastPause, mostPause = time.Second, 10 * time.Second
	// openAtOnce is how many erasures one round completes.
	openAtOnce = 20
)

// Run completes erasures that were cut off, and erases events and sessions that an older
// Redis brought back. It works until ctx ends, while this process holds the snapshot lease.
func (e *Eraser) Run(ctx context.Context) {
	interval := func() time.Duration { return min(max(e.o.Interval, leastPause), mostPause) }
	pause.Again(ctx, interval, e.look, func(err error) {
		e.o.Log.WarnContext(ctx, "the erasure of a user is not complete; it is retried: check Redis and the archive", "error", err)
	})
}

// look is one round of Run.
func (e *Eraser) look(ctx context.Context) error {
	if _, held := e.o.Lease(); !held {
		e.lives = ""
		return nil
	}
	open, err := e.archive.OpenErasures(ctx, openAtOnce)
	for _, o := range open {
		if !e.isActive(o.User) && err == nil {
			err = e.erase(ctx, o)
		}
	}
	if err == nil {
		err = e.lookAround(ctx)
	}
	return err
}

// lookAround erases events and sessions of erased users from Redis servers that may have returned
// with older data. Entries are not its task: they are compared when their guild is verified.
func (e *Eraser) lookAround(ctx context.Context) error {
	lives, err := e.live.Lives(ctx)
	if err != nil || lives == e.lives {
		return err
	}
	if any, err := e.archive.HasErasures(ctx); err != nil || !any {
		return err
	}
	if err := e.live.EraseOldEvents(ctx, e.archive.Erased); err != nil {
		return err
	}
	err = e.live.SessionUsers(ctx, func(users []id.User) error {
		erased, err := e.archive.Erased(ctx, users)
		for user, erasure := range erased {
			if err == nil {
				err = e.live.EndSessionsBefore(ctx, user, erasure.Until)
			}
		}
		return err
	})
	if err == nil {
		e.lives = lives
	}
	return err
}
