package snapshot

import (
	"context"
	"time"
)

// WithoutBadRows is withoutBadRows, whose calls can only be counted from outside of a store.
var WithoutBadRows = withoutBadRows

// Note notes what was used since the last call.
func (u *Uses) Note(ctx context.Context) error { return u.noteFresh(ctx) }

// BeforeOf says before when nothing waits any more with the last of a round's pages of a guild.
func BeforeOf(pages ...Page) time.Time {
	t := &task{}
	for _, p := range pages {
		t.next(p)
	}
	return t.Batch.Before
}
