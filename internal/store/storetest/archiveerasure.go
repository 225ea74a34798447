package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// adaRow returns a row with user data that was updated at a time.
func adaRow(user id.User, at time.Time) snapshot.Row {
	r := gainRow(user, 7, int64(month.First), 7)
	r.LastUpdated, r.User = at.UTC(), leaderboard.User{Username: "ada", GlobalName: new("Ada L")}
	return r
}

func archiveErasure(t *testing.T, a store.Archive) {
	ctx := t.Context()
	const user, other = gainer1, gainer2
	long, now := time.UnixMilli(1700000000000), time.UnixMilli(1800000000000)
	g, left := put(t, a, settingsOf(t, guildA, "")), put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	byUser, byKey := auditedAt(long, 1, other), auditedAt(long, 2, other)
	byUser.Audit.By.Reason = "asked by <@" + string(user) + ">"
	byUser.Audit.By.Actor = audit.Actor{Kind: audit.User, ID: string(user), Name: "Ada L"}
	byKey.Audit.By.Actor = audit.Actor{Kind: audit.Key, ID: keyOne, Name: "bot of Ada"}
	must(t, snapshot.WriteBatch(ctx, a, l, snapshot.Batch{
		Guild: refOf(g), Rev: 1, Rows: []snapshot.Row{adaRow(user, long), adaRow(other, long)},
		Records: []snapshot.Record{recordAt("own", 1, user), recordAt("both", 1, user, other), auditedAt(long, 0, user), byUser, byKey},
	}))
	writeRows(t, a, l, left, 0, 1, adaRow(user, long))
	closePeriods(t, a, l, closing(g, month))
	kept := mustGet(a.CreateCheckpoint(ctx, refOf(g), "kept", false))(t)
	mustGet(a.DeleteGuild(ctx, guildB))(t)
	key := aKey(keyOne, guildA)
	key.OwnerID = user
	must(t, a.CreateKey(ctx, key, apikey.Operator, 0))

	found := mustGet(a.StoredOf(ctx, user))(t)
	if len(found.Guilds) != 1 || found.Guilds[0].Guild != refOf(g) || found.Guilds[0].Row.User.Username != "ada" || found.AuditRecords != 2 ||
		!reflect.DeepEqual(found.Keys, []erasure.Key{{ID: keyOne, Name: key.Name}}) {
		t.Errorf("the archive stores %+v of the user, want one member, two audit records and a key", found)
	}
	if !mustGet(a.TracesOf(ctx, user))(t) {
		t.Error("no other trace of the user is found, want some")
	}
	if erased := mustGet(a.Erased(ctx, []id.User{user}))(t); len(erased) != 0 {
		t.Errorf("before the erasure %v are erased, want nobody", erased)
	}

	must(t, a.BeginErasure(ctx, user))
	if open := mustGet(a.OpenErasures(ctx, 10))(t); !reflect.DeepEqual(open, []erasure.Open{{User: user}}) {
		t.Errorf("the open erasures are %+v, want the user's", open)
	}
	if erased := mustGet(a.Erased(ctx, []id.User{user, other}))(t); len(erased) != 1 || !erased[user].Until.After(time.Now().AddDate(1, 0, 0)) {
		t.Errorf("erased are %v, want the user only, until a time to come", erased)
	}
	version := mustGet(a.LatestChange(ctx))(t)
	if keys := mustGet(a.EraseKeys(ctx, user))(t); !slices.Equal(keys, []string{keyOne}) {
		t.Errorf("the keys %v were erased, want %s", keys, keyOne)
	}
	if log := mustGet(a.Changes(ctx, version, 10))(t); len(log) != 1 || log[0].Kind != changes.Key || log[0].Subject != keyOne {
		t.Errorf("the change log has %+v, want one change of %s", log, keyOne)
	}
	want := []erasure.Request{{Guild: guildA, Name: onceOf("own", "own").Key}}
	if requests := mustGet(a.RequestsOf(ctx, user))(t); !reflect.DeepEqual(requests, want) {
		t.Errorf("the user's requests are %v, want %v", requests, want)
	}
	if refs := mustGet(a.MemberOf(ctx, user, now))(t); !slices.Equal(refs, []leaderboard.GuildRef{refOf(g)}) {
		t.Errorf("the user is a member of %v, want %v", refs, refOf(g))
	}
	o := erasure.Open{User: user, At: now}
	must(t, a.NoteSearched(ctx, user, now))
	// Only its tombstone removes the entry itself, as in Redis.
	if mustGet(a.EraseRows(ctx, o))(t) {
		t.Error("EraseRows says that everything is erased, but the entry is still there")
	}
	writeRows(t, a, l, g, 0, 2, tombstone(user))
	if !mustGet(a.EraseRows(ctx, o))(t) {
		t.Error("EraseRows says that rows are left, after the entry's tombstone")
	}
	found = mustGet(a.StoredOf(ctx, user))(t)
	if found.Traces = mustGet(a.TracesOf(ctx, user))(t); !found.Nothing() {
		t.Errorf("after the erasure %+v is still stored", found)
	}
	wantGains(t, a, g, user)
	if board := mustGet(a.Standings(ctx, refOf(g), month.ID, 0, 10))(t); len(board) != 1 || board[0].UserID != other || board[0].Rank != 1 {
		t.Errorf("the closed board is %+v, want the other user with rank 1", board)
	}
	wantTotals(t, a, g, month, 2, 14)
	wantPast(t, a, g, "after the erasure", map[string]any{"own": "not made", "both": "made"})

	as := mustGet(a.Erased(ctx, []id.User{user}))(t)[user].As
	var log []string
	for _, r := range readAudit(t, a, guildA, audit.Query{}) {
		log = append(log, fmt.Sprint(r.By.Actor.Kind, " ", r.By.Actor.ID, " ", r.By.Actor.Name, " ", r.By.Reason, ": ", r.UserID))
	}
	wantLog := []string{"key " + as + " " + as + " why: " + string(other), "user " + as + " " + as + " asked by <@" + as + ">: " + string(other), `key abc bot "ü" why: ` + as}
	if !slices.Equal(log, wantLog) || !strings.HasPrefix(as, "erased-") {
		t.Errorf("the audit log is %q, want %q", log, wantLog)
	}

	// A later start does not count as the end of another erasure. An end that was interrupted can be repeated.
	must(t, a.EndErasure(ctx, erasure.Open{User: user, At: now.Add(-1)}))
	if open := mustGet(a.OpenErasures(ctx, 10))(t); !reflect.DeepEqual(open, []erasure.Open{{User: user, At: now.UTC()}}) {
		t.Errorf("the open erasures are %+v, want the user's, ended at %s", open, now.UTC())
	}
	must(t, a.EndErasure(ctx, o))
	if open := mustGet(a.OpenErasures(ctx, 10))(t); len(open) != 0 {
		t.Errorf("the open erasures are %+v, want none", open)
	}
	if erased := mustGet(a.Erased(ctx, []id.User{other, user}))(t); len(erased) != 1 || !erased[user].Until.Equal(now) {
		t.Errorf("erased are %v, want the user until %s", erased, now)
	}

	// The checkpoint has the others only, and the erasure leaves a later entry alone.
	writeRows(t, a, l, g, 0, 3, adaRow(user, now.Add(time.Millisecond)))
	if refs := mustGet(a.MemberOf(ctx, user, now))(t); len(refs) != 0 || !mustGet(a.EraseRows(ctx, o))(t) || len(allMembers(t, a, g)) != 2 {
		t.Errorf("the user is a member of %v among %+v, want no guild, and the later entry kept", refs, allMembers(t, a, g))
	}
	r := checkpoints.Replacement{Guild: refOf(g), State: snapshot.State{Archived: 3}, From: kept.ID, Name: "before", Why: events.Restored}
	mustGet(a.Replace(ctx, r))(t)
	if rows := allMembers(t, a, mustGet(a.Guild(ctx, guildA))(t)); len(rows) != 1 || rows[0].UserID != other {
		t.Errorf("restored are %+v, want the other user only", rows)
	}
}

// A step that was repeated for members who had lost it still counts as made for the others.
func archiveErasedRest(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	rest := recordAt("a rest that was lost", 5, gainer1, gainer2)
	rest.Rest = true
	must(t, snapshot.WriteBatch(t.Context(), a, leased(t, a), snapshot.Batch{Guild: refOf(g), Rev: 1, AsOf: 5, Records: []snapshot.Record{rest}}))
	mustGet(a.RaiseEpoch(t.Context(), refOf(g), mustGet(a.State(t.Context(), refOf(g)))(t), hydrate.Reloaded))(t)
	wantPast(t, a, g, "before the erasure", map[string]any{"a rest that was lost": []id.User{gainer1, gainer2}})
	must(t, a.BeginErasure(t.Context(), gainer1))
	if !mustGet(a.EraseRows(t.Context(), erasure.Open{User: gainer1, At: time.Now()}))(t) {
		t.Error("EraseRows says that rows are left")
	}
	wantPast(t, a, g, "after the erasure", map[string]any{"a rest that was lost": []id.User{gainer2}})
}

// A concurrent copy of members has the user where the erasure finds it, or not at all.
func archiveErasureRace(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 1, adaRow(gainer1, time.UnixMilli(1)), adaRow(gainer2, time.UnixMilli(1)))
	must(t, a.BeginErasure(t.Context(), gainer1))
	o := erasure.Open{User: gainer1, At: time.UnixMilli(2)}
	copied := make(chan error)
	go func() {
		var err error
		for range 5 {
			if err == nil {
				_, err = a.CreateCheckpoint(t.Context(), refOf(g), "copy", true)
			}
		}
		copied <- err
	}()
	writeRows(t, a, l, g, 0, 2, tombstone(gainer1))
	if !mustGet(a.EraseRows(t.Context(), o))(t) {
		t.Error("EraseRows says that rows are left")
	}
	must(t, <-copied)
	if mustGet(a.TracesOf(t.Context(), gainer1))(t) {
		t.Error("a checkpoint still names the user")
	}
}
