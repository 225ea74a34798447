package snapshot

import "time"

// BeforeOf returns the time before which nothing waits any more, after the last of a round's pages of a guild.
func BeforeOf(pages ...Page) time.Time {
	t := &task{}
	for _, p := range pages {
		t.next(p)
	}
	return t.Batch.Before
}
