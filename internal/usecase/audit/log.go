package audit

import (
	"context"
	"errors"
	"slices"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
)

// MaxLimit is the maximum number of records on a page.
const MaxLimit = 100

// Query says which records to read. The zero value of a filter matches all.
type Query struct {
	Before ID      // only earlier records; zero starts at the newest
	User   id.User // about this member, or this owner of keys
	Actor  string  // the id of the actor
	Action Action
	Since  time.Time
	Until  time.Time // excluded
	Limit  int       // 1 to MaxLimit
}

// wants reports whether a record matches the query.
func (q *Query) wants(r *Record) bool {
	return (q.Before == ID{} || r.ID.Compare(q.Before) < 0) && (q.User == "" || r.UserID == q.User) && (q.Actor == "" || r.By.Actor.ID == q.Actor) && (q.Action == "" || r.Action == q.Action) &&
		(q.Since.IsZero() || !r.At().Before(q.Since)) && (q.Until.IsZero() || r.At().Before(q.Until))
}

// Page is records, newest first.
type Page struct {
	Records []Record
	Next    *ID // Query.Before for the next page; nil at the end
}

// Part is a part of a guild's journal, newest first.
type Part struct {
	Records []Record
	Until   ID        // the earliest entry that was read
	More    bool      // the journal has earlier entries
	Now     time.Time // by the live store's clock, in milliseconds
}

// Archive is what the log needs of Postgres or SQLite.
type Archive interface {
	// ReadAudit reads the newest records that match q, at most q.Limit and one more. First it calls waiting once, while no record of the
	// guild can be archived or made by the archive. last is the time of the newest record that the archive itself made. Records that the
	// archive gets later are not earlier than the time that waiting returned. It returns guild.ErrNotFound for an unknown guild.
	ReadAudit(ctx context.Context, g id.Guild, q Query, waiting func(of guild.Incarnation, last time.Time) (newest time.Time, err error)) ([]Record, error)
}

// Live holds the journals.
type Live interface {
	// AuditJournal reads a guild's journal backwards from before an id, or from its
	// end if the id is zero. The part is empty if this incarnation is not loaded.
	AuditJournal(ctx context.Context, g id.Guild, of guild.Incarnation, before ID) (Part, error)
}

// Log reads the log. Its errors are faults. It is safe for concurrent use.
type Log struct {
	archive Archive
	live    Live
}

// NewLog returns a Log on both stores.
func NewLog(archive Archive, live Live) *Log { return &Log{archive: archive, live: live} }

// Read reads a page, newest first. It has every acknowledged change. A record that becomes visible later is not earlier than one of the page.
func (l *Log) Read(ctx context.Context, g id.Guild, q Query) (Page, error) {
	var found []Record
	archived, err := l.archive.ReadAudit(ctx, g, q, func(of guild.Incarnation, last time.Time) (newest time.Time, err error) {
		found, newest, err = l.waiting(ctx, g, of, q, last)
		return newest, err
	})
	switch {
	case errors.Is(err, guild.ErrNotFound):
		return Page{}, fault.Wrap(err, fault.NotFound, "This guild is not known here. Create it first, for example with 'levelboard guild apply'.")
	case err != nil:
		return Page{}, fault.Down("read the audit log", err)
	}
	found = append(found, archived...)
	slices.SortFunc(found, func(a, b Record) int { return b.ID.Compare(a.ID) })
	found = slices.CompactFunc(found, func(a, b Record) bool { return a.ID == b.ID })
	p := Page{Records: found[:min(q.Limit, len(found))]}
	if len(found) > q.Limit {
		p.Next = &found[q.Limit-1].ID
	}
	return p, nil
}

// waiting reads the part of the journal that matches q, at least q.Limit and one more if there are so many, and the time of
// its newest entry. It waits until the live store's clock is past last, so that records made later are also later than last.
func (l *Log) waiting(ctx context.Context, g id.Guild, of guild.Incarnation, q Query, last time.Time) (found []Record, newest time.Time, err error) {
	part, err := l.live.AuditJournal(ctx, g, of, q.Before)
	if err == nil && !part.Now.IsZero() && Pass(ctx, part.Now, last) {
		part, err = l.live.AuditJournal(ctx, g, of, q.Before)
	}
	for err == nil {
		for _, r := range part.Records {
			if newest.IsZero() {
				newest = r.At()
			}
			if q.wants(&r) {
				found = append(found, r)
			}
		}
		if !part.More || len(found) > q.Limit {
			break
		}
		part, err = l.live.AuditJournal(ctx, g, of, part.Until)
	}
	return found, newest, err
}

// mostSkew bounds how long a read waits for a store's clock, and so how far apart the clocks of the two stores may be.
const mostSkew = time.Second

// Pass waits until a clock that showed now is past moment, at most mostSkew. It reports whether it had to wait.
func Pass(ctx context.Context, now, moment time.Time) bool {
	if now.After(moment) {
		return false
	}
	return pause.For(ctx, min(moment.Sub(now)+time.Millisecond, mostSkew))
}
