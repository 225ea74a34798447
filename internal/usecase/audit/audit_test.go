package audit_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
)

func FuzzParseID(f *testing.F) {
	for _, text := range []string{"", "-", "0-0", "1700000000000-4294967296", "1-01", "+1-0", "1--1", "9223372036854775808-0", "1-0\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := audit.ParseID(text)
		if err == nil && (id.String() != text || id.Millis < 0 || id.Number < 0) || err != nil && id != (audit.ID{}) {
			t.Errorf("%q is read as the id %s (%v), want the same text or an error without an id", text, id, err)
		}
	})
}

func FuzzParseReason(f *testing.F) {
	for _, text := range []string{"", "%", "a%20b", "%00", "%FF", "%c3%bc+ü", "%ud83d", strings.Repeat("%E2%82%AC", 513)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		reason, err := audit.ParseReason(text)
		if err == nil && (!utf8.ValidString(reason) || utf8.RuneCountInString(reason) > audit.MaxReason || strings.Contains(reason, "\x00")) {
			t.Errorf("%q is accepted as the reason %q, want valid text within the bounds", text, reason)
		}
		if err != nil && (!fault.Is(err, fault.Invalid) || reason != "") {
			t.Errorf("%q gives the reason %q (%v), want fault.Invalid without one", text, reason, err)
		}
	})
}

func TestAChangeIsRecordedWhenSomebodyMakesIt(t *testing.T) {
	if e := audit.EntryOf(t.Context(), audit.Entry{Action: audit.Set}); e != nil || audit.Of(audit.WithReason(t.Context(), "why")) != nil {
		t.Errorf("a change without an actor makes the entry %+v, want none", e)
	}
	ctx := audit.With(t.Context(), audit.By{Actor: audit.TheOperator, RequestID: "r"})
	e := audit.EntryOf(audit.WithReason(ctx, "why"), audit.Entry{Action: audit.Set})
	if e.By != (audit.By{Actor: audit.TheOperator, Reason: "why", RequestID: "r"}) || audit.Of(ctx).Reason != "" {
		t.Errorf("the entry is %+v, want the operator's with its reason and request", e)
	}
}

func TestPassWaitsForAClockThatIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		if audit.Pass(t.Context(), now, now.Add(-1)) {
			t.Error("Pass waited for a moment that had passed")
		}
		if !audit.Pass(t.Context(), now, now.Add(5*time.Millisecond)) || time.Since(now) < 5*time.Millisecond {
			t.Error("Pass did not wait for the clock")
		}
	})
}

// stores have a record in the archive and, once the live store's clock has passed it, one in the journal.
type stores struct {
	at    time.Time
	reads int
}

// ReadAudit implements audit.Archive.
func (s *stores) ReadAudit(_ context.Context, _ id.Guild, _ audit.Query, waiting func(guild.Incarnation, time.Time) (time.Time, error)) ([]audit.Record, error) {
	_, err := waiting(1, s.at)
	return []audit.Record{{ID: audit.ID{Millis: s.at.UnixMilli(), Number: audit.ArchiveNumber}}}, err
}

// AuditJournal implements audit.Live. Its clock is behind at the first call.
func (s *stores) AuditJournal(context.Context, id.Guild, guild.Incarnation, audit.ID) (audit.Part, error) {
	s.reads++
	if s.reads == 1 {
		return audit.Part{Now: s.at}, nil
	}
	later := s.at.Add(time.Millisecond)
	return audit.Part{Now: later, Records: []audit.Record{{ID: audit.ID{Millis: later.UnixMilli()}}}}, nil
}

// A change that Redis makes after a read must be later than everything read.
func TestAReadWaitsForTheJournalsClock(t *testing.T) {
	s := &stores{at: time.Now().Truncate(time.Millisecond)}
	page, err := audit.NewLog(s, s).Read(t.Context(), "100000000000000001", audit.Query{Limit: 5})
	if err != nil || s.reads != 2 || len(page.Records) != 2 || page.Records[1].ID.Compare(page.Records[0].ID) >= 0 || page.Next != nil {
		t.Errorf("after %d reads the page is %+v (%v), want two falling records after 2 reads", s.reads, page, err)
	}
}
