package snapshot

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/lease"
)

// badRowsKept bounds the members that are logged, and so the lines: a damaged member may change every second.
const badRowsKept = 1000

// BadRows logs members that could not be archived unchanged, each once. It
// names them only at level debug, since an erasure does not reach the log.
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

// Good returns the batch without the rows that no archive could hold, or that no live store could load again. It logs these and the damaged ones.
func (b *BadRows) Good(batch Batch) Batch {
	for _, user := range batch.Mended {
		badMembers.WithLabelValues("mended").Inc()
		b.tell("a member is archived as far as it can be read; check it, and find out what else writes to this Redis", batch.Guild.ID, user, "its entry in Redis is damaged")
	}
	batch.Rows = slices.DeleteFunc(slices.Clone(batch.Rows), func(r Row) bool {
		what := r.wrong()
		if what != "" {
			badMembers.WithLabelValues("refused").Inc()
			b.tell("a member cannot be archived, and is skipped until it changes again; set its XP to repair it", batch.Guild.ID, r.UserID, what)
		}
		return what != ""
	})
	return batch
}

// entries returns the rows that are not Deleted. It does not change the batch.
func (b Batch) entries() []Row {
	return slices.DeleteFunc(slices.Clone(b.Rows), func(r Row) bool { return r.Deleted })
}

// Salvaged returns what Salvage merges into the archive, whose state is from: entries, and records of requests. Revs of another
// epoch cannot be compared, so entries and records get the rev above Archived. A record is lost if its entries are not merged.
func (b Batch) Salvaged(from State) Batch {
	s := Batch{Guild: b.Guild, Epoch: from.Epoch, AsOf: from.Archived + 1, Rows: b.entries(), Records: slices.Clone(b.Records)}
	if b.Epoch == from.Epoch {
		s.AsOf = max(b.AsOf, b.Rev) // the rows lack the effects of later records
		return s
	}
	for i := range s.Records {
		s.Records[i].Rev = s.AsOf
	}
	return s
}

// Gone returns the users of the rows that are Deleted.
func (b Batch) Gone() (users []id.User) {
	for i := range b.Rows {
		if b.Rows[i].Deleted {
			users = append(users, b.Rows[i].UserID)
		}
	}
	return users
}

// mostGained is more than the changes of a day can add up to. It keeps sums over members and days from overflowing.
const mostGained = 1 << 53

// wrong returns what is wrong with a row that could not be loaded into a live store again, or not be
// stored as text. Such a row would make the whole guild impossible to load. The text names no user.
func (r *Row) wrong() string {
	switch {
	case !id.Valid(string(r.UserID)):
		return "the user's id is not one"
	case r.Deleted:
		return ""
	case r.XP < 0 || r.XP > level.MaxXP:
		return "XP out of bounds"
	case r.MessageCount < 0:
		return "a negative message count"
	case !r.LastUpdated.IsZero() && r.LastUpdated.UnixMilli() < 0, !r.CooldownUntil.IsZero() && r.CooldownUntil.UnixMilli() < 0:
		return "a time before 1970"
	}
	for i, g := range r.Gains {
		if g.Gained < -mostGained || g.Gained > mostGained {
			return "a gain out of bounds"
		}
		if slices.ContainsFunc(r.Gains[:i], func(o period.Gain) bool { return o.Day == g.Day }) {
			return "two gains of a day"
		}
	}
	u := &r.User
	for _, s := range []*string{u.Avatar, &u.Discriminator, u.GlobalName, &u.Username, u.AccentColour} {
		if s != nil && (!utf8.ValidString(*s) || strings.IndexByte(*s, 0) >= 0) {
			return "user data that is not text"
		}
	}
	return ""
}

// WriteBatch writes one batch, and returns its error of WriteBatches.
func WriteBatch(ctx context.Context, a Archive, l lease.Lease, b Batch) error {
	errs, err := a.WriteBatches(ctx, l, []Batch{b})
	if err == nil {
		err = errs[0]
	}
	return err
}
