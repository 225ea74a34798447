package importer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

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

// maxCallMembers and maxCallBytes bound a Call; the service takes 1000 members and 1 MiB.
const maxCallMembers, maxCallBytes = 1000, 1000 << 10

// Call is one request of an import.
type Call struct {
	Name    string // of no other call
	Mode    leaderboard.PutMode
	Members []leaderboard.Put // at least one
}

// calls returns the requests that write the members, in order, named by their places. Each is valid until the next one.
func (i *Import) calls() iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		call, size, n := Call{Mode: i.Mode}, 0, 0
		send := func() bool {
			call.Name = strconv.Itoa(n)
			ok := yield(call, nil)
			call.Members, size, n = call.Members[:0], 0, n+1
			return ok
		}
		for row, err := range i.Members.rows(i.Curve, i.MinLevel) {
			if err != nil {
				yield(Call{}, fmt.Errorf("write a member: %w", err))
				return
			}
			more := sizeOf(&row)
			if (len(call.Members) == maxCallMembers || len(call.Members) > 0 && size+more > maxCallBytes) && !send() {
				return
			}
			call.Members = append(call.Members, leaderboard.Put{
				User: row.UserID, XP: row.XP, MessageCount: row.MessageCount, Data: row.User, Absent: !row.Present, Hidden: row.Hidden,
			})
			size += more
		}
		if len(call.Members) > 0 {
			send()
		}
	}
}

// sizeOf is the most bytes that a member takes as JSON, in which a byte of a text may be six.
func sizeOf(row *Row) int {
	const fixed, escaped = 250, 6
	if row.User == nil {
		return fixed
	}
	u := row.User
	return fixed + escaped*(len(u.Username)+len(u.Discriminator)+len(orEmpty(u.GlobalName))+len(orEmpty(u.Avatar)))
}

// planHash is the SHA-256 of by and all calls, in hexadecimal: another order of the files, another curve or least level changes it.
func (i *Import) planHash(ctx context.Context, by string) (string, error) {
	h := sha256.New()
	h.Write([]byte(by))
	for call, err := range i.calls() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = json.MarshalWrite(h, call)
		}
		if err != nil {
			return "", fmt.Errorf("hash the calls of an import: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
