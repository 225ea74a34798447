package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/snapshot"
)

// byOperator is a context in which the operator makes changes.
func byOperator(t *testing.T) context.Context {
	return audit.With(t.Context(), audit.By{Actor: audit.TheOperator, RequestID: "request"})
}

// auditedAt is an entry of a journal about a user.
func auditedAt(at time.Time, number int64, user id.User) snapshot.Record {
	count := int64(7)
	by := audit.By{Actor: audit.Actor{Kind: audit.Key, ID: "abc", Name: "bot \"ü\""}, Reason: "why", RequestID: "r"}
	return snapshot.Record{Audit: &audit.Record{
		ID: audit.ID{Millis: at.UnixMilli(), Number: number}, Entry: audit.Entry{By: by, Action: audit.Set, UserID: user, Count: &count},
		Before: []byte("1"), After: []byte(`{"a":[2]}`),
	}}
}

// readAudit reads what the archive has of a guild's log, newest first.
func readAudit(t *testing.T, a store.Archive, g id.Guild, q audit.Query) []audit.Record {
	t.Helper()
	q.Limit = max(q.Limit, 50)
	return mustGet(a.ReadAudit(t.Context(), g, q, func(guild.Incarnation, time.Time) (time.Time, error) { return time.Time{}, nil }))(t)
}

func archiveAudit(t *testing.T, a store.Archive) {
	const one, two id.User = "300000000000000001", "300000000000000002"
	g, l := put(t, a, settingsOf(t, guildA, "")), leased(t, a)
	at := time.Now().Truncate(time.Millisecond)
	both := recordAt("both", 2, one)
	both.Audit = auditedAt(at, 1, one).Audit
	b := snapshot.Batch{Guild: refOf(g), Known: 5, Rev: 2, Records: []snapshot.Record{auditedAt(at, 0, two), both}}
	for range 2 { // the second time, as a writer that was not answered
		must(t, snapshot.WriteBatch(t.Context(), a, l, b))
	}
	must(t, a.Salvage(t.Context(), mustGet(a.State(t.Context(), refOf(g)))(t), b))
	got := readAudit(t, a, g.ID, audit.Query{})
	if len(got) != 2 || got[0].ID != both.Audit.ID || got[1].ID.Number != 0 {
		t.Fatalf("the log is %+v", got)
	}
	first, want := got[0], *both.Audit
	if first.By != want.By || first.Action != want.Action || first.UserID != one || *first.Count != 7 || string(first.Before) != "1" || string(first.After) != `{"a":[2]}` {
		t.Errorf("the record is %+v, want %+v", first, want)
	}
	wantPast(t, a, g, "of one entry with a record", map[string]any{"both": "made"})
	for name, q := range map[string]audit.Query{
		"before": {Before: first.ID}, "user": {User: two}, "actor": {Actor: "abc", User: two}, "until": {Until: at.Add(1), User: two},
		"since": {Since: at, User: two}, "action": {Action: first.Action, User: two},
	} {
		if got := readAudit(t, a, g.ID, q); len(got) != 1 || got[0].UserID != two {
			t.Errorf("by %s: %+v", name, got)
		}
	}
	if got := readAudit(t, a, g.ID, audit.Query{Action: first.Action, Actor: "abc"}); len(got) != 2 {
		t.Errorf("by action and actor: %+v", got)
	}
	for name, q := range map[string]audit.Query{
		"action": {Action: audit.Reset}, "action of a user": {Action: audit.Reset, User: two}, "action of an actor": {Action: audit.Reset, Actor: "abc"}, "actor": {Actor: "x"}, "until": {Until: at}, "since": {Since: at.Add(1)}, "before": {Before: audit.ID{Millis: at.UnixMilli()}},
	} {
		if got := readAudit(t, a, g.ID, q); len(got) != 0 {
			t.Errorf("by another %s: %+v", name, got)
		}
	}
}

// What the archive records is later than all that a read has returned, whatever the clock of the live store shows; and a log outlives restores and
// resets, and ends with its guild.
func archiveAuditOrder(t *testing.T, a store.Archive) {
	ctx := byOperator(t)
	g, _, err := a.PutGuild(ctx, settingsOf(t, guildA, ""))
	if err != nil {
		t.Fatal(err)
	}
	var ahead, last time.Time
	_, err = a.ReadAudit(t.Context(), guildA, audit.Query{Limit: 1}, func(of guild.Incarnation, latest time.Time) (time.Time, error) {
		if of != g.Incarnation {
			t.Errorf("the journal is asked of %d", of)
		}
		ahead, last = time.Now().Add(20*time.Millisecond), latest
		return ahead, nil
	})
	if made := readAudit(t, a, guildA, audit.Query{}); err != nil || len(made) != 1 || !made[0].At().Equal(last.UTC()) || made[0].Before != nil || made[0].Action != audit.Settings {
		t.Errorf("of a guild that was created: %+v, %v, last %s", made, err, last)
	}
	renamed := settingsOf(t, guildA, "")
	renamed.Name = "Moles"
	changed := make(chan error, 1)
	_, err = a.ReadAudit(t.Context(), guildA, audit.Query{Limit: 1}, func(guild.Incarnation, time.Time) (time.Time, error) {
		go func() {
			_, _, err := a.PutGuild(ctx, renamed)
			changed <- err
		}()
		select {
		case err := <-changed:
			t.Errorf("recorded while the log was read, %v", err)
			changed <- err
		case <-time.After(300 * time.Millisecond): // far more than a change takes that does not have to wait
		}
		ahead = time.Now()
		return ahead, nil
	})
	must(t, errors.Join(err, <-changed))
	mustGet(a.CreateCheckpoint(ctx, refOf(g), "automatic", true))(t)
	mustGet(a.Replace(ctx, checkpoints.Replacement{Guild: refOf(g), Name: "before", Why: events.Cleared}))(t)
	got := readAudit(t, a, guildA, audit.Query{})
	actions := make([]audit.Action, len(got))
	for i := range got {
		actions[i] = got[i].Action
	}
	if !slices.Equal(actions, []audit.Action{audit.Reset, audit.Settings, audit.Settings}) {
		t.Fatalf("the actions are %v", actions)
	}
	if string(got[1].Before) != `{"name":"Gophers"}` || string(got[1].After) != `{"name":"Moles"}` || !got[1].At().After(ahead.Truncate(time.Millisecond)) || got[1].By.Actor != audit.TheOperator {
		t.Errorf("the record is %+v, after %s", got[1], ahead)
	}
	purgeAll(t, a) // what was there before the reset has the same log
	if n := len(readAudit(t, a, guildA, audit.Query{})); n != 3 {
		t.Errorf("after a purge, %d records are left", n)
	}
	mustGet(a.DeleteGuild(ctx, guildA))(t)
	unread := func(guild.Incarnation, time.Time) (time.Time, error) { return time.Time{}, errors.New("asked") }
	if _, err := a.ReadAudit(t.Context(), guildA, audit.Query{Limit: 1}, unread); !errors.Is(err, guild.ErrNotFound) {
		t.Errorf("of a deleted guild: %v", err)
	}
	if n := mustGet(a.Purge(t.Context(), 1000, snapshot.Keep{Tombstones: time.Hour}))(t); n != 3 {
		t.Errorf("of a deleted guild with a log of 3 records, %d rows were purged", n)
	}
	purgeAll(t, a)
	put(t, a, settingsOf(t, guildA, ""))
	if got := readAudit(t, a, guildA, audit.Query{}); len(got) != 0 {
		t.Errorf("a guild that was created again has the log %+v", got)
	}
}

func archiveAuditPurged(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	b := snapshot.Batch{Guild: refOf(g), Known: 5, Rev: 1}
	for days := range 5 {
		b.Records = append(b.Records, auditedAt(time.Now().AddDate(0, 0, -30-days).Add(time.Hour), 0, ""))
	}
	must(t, snapshot.WriteBatch(t.Context(), a, leased(t, a), b))
	for _, want := range []int{3, 1, 0} {
		if n, err := a.Purge(t.Context(), 3, snapshot.Keep{Tombstones: time.Hour, Audit: 30}); err != nil || n != want {
			t.Errorf("%d rows were purged, %v, want %d", n, err, want)
		}
	}
	if got := readAudit(t, a, g.ID, audit.Query{}); len(got) != 1 {
		t.Errorf("%+v is left", got)
	}
}
