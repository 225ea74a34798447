package snapshot

import (
	"time"
)

// WithoutBadRows is withoutBadRows, whose calls can only be counted from outside of a store.
var WithoutBadRows = withoutBadRows

// BeforeOf says before when nothing waits any more with the last of a round's pages of a guild.
func BeforeOf(pages ...Page) time.Time {
	t := &task{}
	for _, p := range pages {
		t.next(p)
	}
	return t.Batch.Before
}
