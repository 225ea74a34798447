package snapshot

import "time"

// BeforeOf says before when nothing waits any more with the last of a round's pages of a guild.
func BeforeOf(pages ...Page) time.Time {
	t := &task{}
	for _, p := range pages {
		t.next(p)
	}
	return t.Batch.Before
}
