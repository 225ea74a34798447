package snapshot

import (
	"log/slog"
	"slices"
	"sync"

	"levelboard/internal/domain/id"
)

// badRowsKept bounds for how many members a log line is remembered, and with it how many lines there are: a damaged
// member may change every second.
const badRowsKept = 1000

// BadRows tells of members that could not be archived as they are, of each once. Only at level debug does it name them: a log is not erased.
type BadRows struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[id.User]bool
}

// NewBadRows returns a BadRows that writes to log.
func NewBadRows(log *slog.Logger) *BadRows { return &BadRows{log: log, told: map[id.User]bool{}} }

func (b *BadRows) tell(text string, g id.Guild, user id.User, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.told[user] || len(b.told) >= badRowsKept {
		return
	}
	b.told[user] = true
	b.log.Error(text+": log at level debug to see which", "guild", g, "error", why)
	b.log.Debug("the member that cannot be archived as it is", "guild", g, "member", user)
}

// Good returns the batch without the rows that no archive could hold, or that no live store could load again, and tells of these and of damaged ones.
func (b *BadRows) Good(batch Batch) Batch {
	for _, user := range batch.Mended {
		badMembers.WithLabelValues("mended").Inc()
		b.tell("a member is archived as far as it can be read; check it, and find out what else writes to this Redis", batch.Guild.ID, user, "its entry in Redis is damaged")
	}
	batch.Rows = slices.DeleteFunc(slices.Clone(batch.Rows), func(r Row) bool {
		what := r.wrong()
		if what != "" {
			badMembers.WithLabelValues("refused").Inc()
			b.tell("a member cannot be archived, and is passed over until it changes again; set its XP to mend it", batch.Guild.ID, r.UserID, what)
		}
		return what != ""
	})
	return batch
}
