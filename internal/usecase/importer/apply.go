package importer

import (
	"context"
	"fmt"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// putTries is how often a call is made, with pauses that double from firstPause to longestPause, while the target is busy.
	putTries                 = 6
	firstPause, longestPause = time.Second, 8 * time.Second
)

// Target is the guild that an import is applied to, over HTTP or in the process.
type Target interface {
	// Begin makes a checkpoint and names the import.
	Begin(ctx context.Context, b Begin) (Begun, error)
	// TakeSettings puts the properties of a JSON object in place of those of the guild's document.
	TakeSettings(ctx context.Context, properties []byte) error
	// Put writes members. It makes a call only once under its name. After an error, busy says that it may be repeated.
	Put(ctx context.Context, call Call) (done Result, busy bool, err error)
	// Finish notes that the import with this id has written so many members.
	Finish(ctx context.Context, importID string, members int) error
}

// Begin identifies an import.
type Begin struct {
	Files string // the SHA-256 of the files if they must be applied once to the guild's current members, else empty
	Plan  string // the SHA-256 of the calls: only the same ones continue an import that was cut off
	Again bool   // apply the files whatever was begun or finished before
}

// Begun is an import that was begun, now or before it was cut off.
type Begun struct{ ID, Checkpoint string }

// Result counts the members that were written.
type Result struct{ Created, Changed, Unchanged int }

// Written returns how many members were written.
func (r Result) Written() int { return r.Created + r.Changed + r.Unchanged }

// Count counts a member.
func (r *Result) Count(s leaderboard.PutState) {
	switch s {
	case leaderboard.Created:
		r.Created++
	case leaderboard.Changed:
		r.Changed++
	default:
		r.Unchanged++
	}
}

func (r *Result) add(more Result) {
	r.Created, r.Changed, r.Unchanged = r.Created+more.Created, r.Changed+more.Changed, r.Unchanged+more.Unchanged
}

// ApplyOptions say how an import is applied.
type ApplyOptions struct {
	By    string // command or pages: only the one that began an import continues it
	Again bool   // with PutAdd: add the files even if they were added before
	Wrote func(Result)
}

// Apply makes a checkpoint, takes the settings, writes the members and finishes the import. After an error, a checkpoint that is not empty says that
// the import was begun: apply it again to complete it.
func (i *Import) Apply(ctx context.Context, t Target, o ApplyOptions) (done Result, checkpoint string, err error) {
	if err := i.Nothing(); err != nil {
		return done, "", err
	}
	begin := Begin{}
	if i.Mode == leaderboard.PutAdd { // only added XP must be applied once
		begin = Begin{Files: i.files, Again: o.Again}
		if begin.Plan, err = i.planHash(ctx, o.By); err != nil {
			return done, "", err
		}
	}
	begun, err := t.Begin(ctx, begin)
	if err != nil {
		return done, "", err
	}
	if i.settings != nil {
		if err := t.TakeSettings(ctx, i.settings); err != nil {
			return done, begun.Checkpoint, err
		}
	}
	for call, err := range i.calls() {
		if err == nil {
			call.Name = begun.ID + "-" + call.Name
			err = put(ctx, t, call, &done)
		}
		if err != nil {
			return done, begun.Checkpoint, err
		}
		if o.Wrote != nil {
			o.Wrote(done)
		}
	}
	return done, begun.Checkpoint, t.Finish(ctx, begun.ID, done.Written())
}

// put makes a call, in more tries while the target is busy.
func put(ctx context.Context, t Target, call Call, done *Result) error {
	for try, wait := 1, firstPause; ; try, wait = try+1, min(2*wait, longestPause) {
		wrote, busy, err := t.Put(ctx, call)
		if err == nil {
			done.add(wrote)
			return nil
		}
		if !busy || try == putTries || !pause.For(ctx, wait) {
			return fmt.Errorf("write members: %w", err)
		}
	}
}
