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

// byOperator returns a context in which the operator makes changes.
func byOperator(t *testing.T) context.Context {
	return audit.With(t.Context(), audit.By{Actor: audit.TheOperator, RequestID: "request"})
}

// auditedAt returns a journal entry about a user.
func auditedAt(at time.Time, number int64, user id.User) snapshot.Record {
	count := int64(7)
	by := audit.By{Actor: audit.Actor{Kind: audit.Key, ID: "abc", Name: "bot \"ü\""}, Reason: "why", RequestID: "r"}
	return snapshot.Record{Audit: &audit.Record{
		ID: audit.ID{Millis: at.UnixMilli(), Number: number}, Entry: audit.Entry{By: by, Action: audit.Set, UserID: user, Count: &count},
		Before: []byte("1"), After: []byte(`{"a":[2]}`),
	}}
}

// readAudit reads a guild's log from the archive, newest first.
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
	for range 2 { // a writer that got no answer repeats it
		must(t, snapshot.WriteBatch(t.Context(), a, l, b))
	}
	must(t, a.Salvage(t.Context(), mustGet(a.State(t.Context(), refOf(g)))(t), b))
	got := readAudit(t, a, g.ID, audit.Query{})
	if len(got) != 2 || got[0].ID != both.Audit.ID || got[1].ID.Number != 0 {
		t.Fatalf("the log is %+v, want two records, %+v first", got, both.Audit.ID)
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
			t.Errorf("the log by %s is %+v, want the record of %s", name, got, two)
		}
	}
	if got := readAudit(t, a, g.ID, audit.Query{Action: first.Action, Actor: "abc"}); len(got) != 2 {
		t.Errorf("the log by action and actor is %+v, want two records", got)
	}
	for name, q := range map[string]audit.Query{
		"action": {Action: audit.Reset}, "action of a user": {Action: audit.Reset, User: two}, "action of an actor": {Action: audit.Reset, Actor: "abc"}, "actor": {Actor: "x"}, "until": {Until: at}, "since": {Since: at.Add(1)}, "before": {Before: audit.ID{Millis: at.UnixMilli()}},
	} {
		if got := readAudit(t, a, g.ID, q); len(got) != 0 {
			t.Errorf("the log by another %s is %+v, want none", name, got)
		}
	}
}

// The archive's records are later than all that a read has returned, whatever the live store's clock shows. A log outlives restores and
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
			t.Errorf("the journal of incarnation %d was read, want %d", of, g.Incarnation)
		}
		ahead, last = time.Now().Add(20*time.Millisecond), latest
		return ahead, nil
	})
	if made := readAudit(t, a, guildA, audit.Query{}); err != nil || len(made) != 1 || !made[0].At().Equal(last.UTC()) || made[0].Before != nil || made[0].Action != audit.Settings {
		t.Errorf("the created guild's log is %+v (%v), want one record of settings at %s", made, err, last)
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
			t.Errorf("a change was recorded during a read of the log (%v), want it to wait", err)
			changed <- err
		case <-time.After(300 * time.Millisecond): // much longer than a change that need not wait
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
		t.Fatalf("the actions are %v, want a reset and two of settings", actions)
	}
	if string(got[1].Before) != `{"name":"Gophers"}` || string(got[1].After) != `{"name":"Moles"}` || !got[1].At().After(ahead.Truncate(time.Millisecond)) || got[1].By.Actor != audit.TheOperator {
		t.Errorf("the record is %+v, want the operator's from Gophers to Moles, after %s", got[1], ahead)
	}
	purgeAll(t, a) // the purged incarnation has the same log
	if n := len(readAudit(t, a, guildA, audit.Query{})); n != 3 {
		t.Errorf("%d records are left after a purge, want 3", n)
	}
	mustGet(a.DeleteGuild(ctx, guildA))(t)
	unread := func(guild.Incarnation, time.Time) (time.Time, error) { return time.Time{}, errors.New("asked") }
	if _, err := a.ReadAudit(t.Context(), guildA, audit.Query{Limit: 1}, unread); !errors.Is(err, guild.ErrNotFound) {
		t.Errorf("reading a deleted guild's log: %v, want guild.ErrNotFound", err)
	}
	if n := mustGet(a.Purge(t.Context(), 1000, snapshot.Keep{Tombstones: time.Hour}))(t); n != 3 {
		t.Errorf("of a deleted guild with 3 records %d rows were purged, want 3", n)
	}
	purgeAll(t, a)
	put(t, a, settingsOf(t, guildA, ""))
	if got := readAudit(t, a, guildA, audit.Query{}); len(got) != 0 {
		t.Errorf("a guild that was created again has the log %+v, want none", got)
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
			t.Errorf("purged %d rows (%v), want %d", n, err, want)
		}
	}
	if got := readAudit(t, a, g.ID, audit.Query{}); len(got) != 1 {
		t.Errorf("after the purge the log is %+v, want one record", got)
	}
}
