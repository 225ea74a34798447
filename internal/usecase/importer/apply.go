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
	// putTries is how often a call is tried while the target is busy. The pauses double from firstPause to longestPause.
	putTries                 = 6
	firstPause, longestPause = time.Second, 8 * time.Second
)

// Target is the guild that an import is applied to, over HTTP or in this process.
type Target interface {
	// Begin makes a checkpoint and names the import.
	Begin(ctx context.Context, b Begin) (Begun, error)
	// TakeSettings replaces properties of the guild's document by those of a JSON object.
	TakeSettings(ctx context.Context, properties []byte) error
	// Put writes members. A repeated call with the same name has no effect. After an error, busy says that the call may be repeated.
	Put(ctx context.Context, call Call) (done Result, busy bool, err error)
	// Finish records that the import with this id has written so many members.
	Finish(ctx context.Context, importID string, members int) error
}

// Begin identifies an import.
type Begin struct {
	Files string // the SHA-256 of the files if they must not be applied twice to the guild's current members, else empty
	Plan  string // the SHA-256 of the calls: an import that was cut off continues only with the same calls
	Again bool   // apply the files even if they were begun or finished before
}

// Begun is an import that has begun, now or before it was cut off.
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
	By    string // command or pages: whichever began an import must continue it
	Again bool   // with PutAdd: add the files even if they were added before
	Wrote func(Result)
}

// Apply makes a checkpoint, takes the settings, writes the members and finishes the import. If
// it returns an error with a checkpoint, the import has begun: apply it again to complete it.
func (i *Import) Apply(ctx context.Context, t Target, o ApplyOptions) (done Result, checkpoint string, err error) {
	if err := i.Nothing(); err != nil {
		return done, "", err
	}
	begin := Begin{}
	if i.Mode == leaderboard.PutAdd { // only added XP must not be applied twice
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

// put makes a call, and retries it while the target is busy.
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

// maxCallMembers and maxCallBytes bound a Call. The service accepts 1000 members and 1 MiB.
const maxCallMembers, maxCallBytes = 1000, 1000 << 10

// Call is one request of an import.
type Call struct {
	Name    string // unique
	Mode    leaderboard.PutMode
	Members []leaderboard.Put // at least one
}

// calls returns the requests that write the members, in order; each is named by its position. A call is valid until the next one.
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

// sizeOf returns the maximum size of a member as JSON, in which a byte of text may take six.
func sizeOf(row *Row) int {
	const fixed, escaped = 250, 6
	if row.User == nil {
		return fixed
	}
	u := row.User
	return fixed + escaped*(len(u.Username)+len(u.Discriminator)+len(orEmpty(u.GlobalName))+len(orEmpty(u.Avatar)))
}

// planHash returns the SHA-256 of by and all calls, in hexadecimal. It differs
// for another order of the files, another curve or another minimum level.
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
