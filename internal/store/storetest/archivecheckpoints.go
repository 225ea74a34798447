package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/store"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/snapshot"
)

func archiveCheckpoints(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	l := leased(t, a)
	one, two := salvageRow(salvaged1, 5, 4, 3, 2), salvageRow(salvaged2, 7, 0, 1, 0)
	two.Absent = true
	writeRows(t, a, l, g, 0, 1, one, two, row(salvaged3, 1))
	writeRows(t, a, l, g, 0, 2, tombstone(salvaged3))
	made := mustGet(a.CreateCheckpoint(t.Context(), refOf(g), "first", false))(t)
	if made.Members != 2 || made.Name != "first" || made.Automatic || time.Since(made.CreatedAt).Abs() > time.Hour {
		t.Errorf("the new checkpoint is %+v, want \"first\" with 2 members, not automatic", made)
	}
	second := mustGet(a.CreateCheckpoint(t.Context(), refOf(g), "second", true))(t)
	if got := mustGet(a.Checkpoints(t.Context(), g.ID))(t); !reflect.DeepEqual(got, []checkpoints.Checkpoint{second, made}) {
		t.Errorf("the checkpoints are %+v, want %+v", got, []checkpoints.Checkpoint{second, made})
	}
	writeRows(t, a, l, g, 0, 3, row(salvaged1, 1000), row(salvaged3, 9), tombstone(salvaged2))

	r := checkpoints.Replacement{Guild: refOf(g), State: snapshot.State{Archived: 3}, From: made.ID, Name: "before", Why: events.Restored}
	done := mustGet(a.Replace(t.Context(), r))(t)
	if done.Members != 2 || done.Before.Members != 2 || !done.Before.Automatic || done.Before.Name != "before" {
		t.Errorf("the replacement is %+v, want 2 members and an automatic checkpoint of 2", done)
	}
	now := mustGet(a.Guild(t.Context(), g.ID))(t)
	if now.Incarnation != done.Incarnation || now.Incarnation == g.Incarnation || !reflect.DeepEqual(now.Settings, g.Settings) {
		t.Errorf("the guild is %+v, want the new incarnation with the same settings", now)
	}
	one.CooldownUntil = time.Time{}
	if got := allMembers(t, a, now); !reflect.DeepEqual(got, []snapshot.Row{one, two}) {
		t.Errorf("restored are\n%+v, want\n%+v", got, []snapshot.Row{one, two})
	}
	if _, err := a.State(t.Context(), refOf(g)); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("the state of the old incarnation: %v, want snapshot.ErrStale", err)
	}
	// Restore the checkpoint of before, then reset to no members.
	r = checkpoints.Replacement{Guild: refOf(now), State: snapshot.State{Epoch: 1}, From: done.Before.ID, Name: "again", Why: events.Restored}
	done = mustGet(a.Replace(t.Context(), r))(t)
	now = mustGet(a.Guild(t.Context(), g.ID))(t)
	if got := allMembers(t, a, now); !reflect.DeepEqual(got, []snapshot.Row{row(salvaged1, 1000), row(salvaged3, 9)}) {
		t.Errorf("restored are %+v, want 1000 and 9 XP", got)
	}
	writeRows(t, a, l, now, 1, 1, row(salvaged1, 1001))
	r = checkpoints.Replacement{Guild: refOf(now), State: snapshot.State{Epoch: 1, Archived: 1}, Name: "again", Why: events.Cleared}
	if done = mustGet(a.Replace(t.Context(), r))(t); done.Members != 0 || done.Before.Members != 2 {
		t.Errorf("the reset is %+v, want 0 members and a checkpoint of 2", done)
	}
	now = mustGet(a.Guild(t.Context(), g.ID))(t)
	if got := allMembers(t, a, now); len(got) != 0 {
		t.Errorf("after a reset the members are %+v, want none", got)
	}
	wantResets(t, a, periods.Reset{Guild: refOf(now), Why: events.Cleared})
	purgeAll(t, a)
	if got := mustGet(a.Checkpoints(t.Context(), g.ID))(t); len(got) != 5 {
		t.Errorf("%d checkpoints after a purge, want 5", len(got))
	}
}

// purgeAll purges everything that belongs to deleted guilds.
func purgeAll(t *testing.T, a store.Archive) {
	t.Helper()
	for n := 1; n > 0; {
		n = mustGet(a.Purge(t.Context(), 1000, snapshot.Keep{Tombstones: time.Hour}))(t)
	}
	if left := mustGet(a.Deleted(t.Context(), 10))(t); len(left) > 0 {
		t.Errorf("after purging, %v are still deleted guilds", left)
	}
}

func wantResets(t *testing.T, a store.Archive, want ...periods.Reset) {
	t.Helper()
	if got := mustGet(a.Resets(t.Context(), "", 10))(t); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("the resets are %+v, want %+v", got, want)
	}
}

func archiveReplaceRefused(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	other := put(t, a, settingsOf(t, guildB, ""))
	l := leased(t, a)
	writeRows(t, a, l, g, 0, 1, row(salvaged1, 5))
	elsewhere := mustGet(a.CreateCheckpoint(t.Context(), refOf(other), "elsewhere", false))(t)
	made := mustGet(a.CreateCheckpoint(t.Context(), refOf(g), "here", false))(t)
	good := checkpoints.Replacement{Guild: refOf(g), State: snapshot.State{Archived: 1}, From: made.ID, Name: "before", Why: events.Restored}
	for name, c := range map[string]struct {
		change func(r *checkpoints.Replacement)
		want   error
	}{
		"another incarnation":       {func(r *checkpoints.Replacement) { r.Guild.Incarnation++ }, snapshot.ErrStale},
		"an unknown guild":          {func(r *checkpoints.Replacement) { r.Guild.ID, r.From = "777777777777777777", "" }, snapshot.ErrStale},
		"more is archived":          {func(r *checkpoints.Replacement) { r.State.Archived = 0 }, snapshot.ErrStale},
		"less is archived":          {func(r *checkpoints.Replacement) { r.State.Archived = 2 }, snapshot.ErrStale},
		"another epoch":             {func(r *checkpoints.Replacement) { r.State.Epoch = 1 }, snapshot.ErrStale},
		"another's checkpoint":      {func(r *checkpoints.Replacement) { r.From = elsewhere.ID }, checkpoints.ErrUnknown},
		"no id":                     {func(r *checkpoints.Replacement) { r.From = "x" }, checkpoints.ErrUnknown},
		"an id with a leading zero": {func(r *checkpoints.Replacement) { r.From = "0" + made.ID }, checkpoints.ErrUnknown},
		"the guild itself":          {func(r *checkpoints.Replacement) { r.From = fmt.Sprint(g.Incarnation) }, checkpoints.ErrUnknown},
	} {
		r := good
		c.change(&r)
		if _, err := a.Replace(t.Context(), r); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if err := a.DeleteCheckpoint(t.Context(), g.ID, elsewhere.ID); !errors.Is(err, checkpoints.ErrUnknown) {
		t.Errorf("deleting another guild's checkpoint: %v, want checkpoints.ErrUnknown", err)
	}
	if got := mustGet(a.Checkpoints(t.Context(), g.ID))(t); len(got) != 1 {
		t.Errorf("the checkpoints are %+v, want one", got)
	}
	if got := allMembers(t, a, g); !reflect.DeepEqual(got, []snapshot.Row{row(salvaged1, 5)}) {
		t.Errorf("after refused replacements the members are %+v, want one with 5 XP", got)
	}
	wantResets(t, a)
	if err := a.DeleteCheckpoint(t.Context(), g.ID, made.ID); err != nil {
		t.Error(err)
	}
	if _, err := a.Replace(t.Context(), good); !errors.Is(err, checkpoints.ErrUnknown) {
		t.Errorf("restoring a deleted checkpoint: %v, want checkpoints.ErrUnknown", err)
	}
	if _, err := a.CreateCheckpoint(t.Context(), leaderboard.GuildRef{ID: g.ID, Incarnation: 1}, "x", false); !errors.Is(err, snapshot.ErrStale) {
		t.Errorf("a checkpoint of another incarnation: %v, want snapshot.ErrStale", err)
	}
}

func archiveCheckpointBounds(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	for i := range checkpoints.MaxManual {
		mustGet(a.CreateCheckpoint(t.Context(), refOf(g), fmt.Sprint(i), false))(t)
	}
	if _, err := a.CreateCheckpoint(t.Context(), refOf(g), "one more", false); !errors.Is(err, checkpoints.ErrTooMany) {
		t.Errorf("one checkpoint too many: %v, want checkpoints.ErrTooMany", err)
	}
	var last checkpoints.Checkpoint
	for i := range checkpoints.MaxAutomatic + 2 {
		last = mustGet(a.CreateCheckpoint(t.Context(), refOf(g), fmt.Sprint("automatic ", i), true))(t)
	}
	got := mustGet(a.Checkpoints(t.Context(), g.ID))(t)
	names := map[string]bool{}
	for _, c := range got {
		names[c.Name] = true
	}
	if len(got) != checkpoints.MaxManual+checkpoints.MaxAutomatic || names["automatic 0"] || names["automatic 1"] || !names["automatic 2"] || !names[last.Name] || !names["0"] {
		t.Errorf("%d checkpoints %v are left, want %d, without the two oldest automatic ones",
			len(got), names, checkpoints.MaxManual+checkpoints.MaxAutomatic)
	}
	mustGet(a.DeleteGuild(t.Context(), g.ID))(t)
	again := put(t, a, settingsOf(t, guildA, ""))
	if got := mustGet(a.Checkpoints(t.Context(), again.ID))(t); len(got) != 0 {
		t.Errorf("a guild that was created again has %d checkpoints, want none", len(got))
	}
	purgeAll(t, a)
}

// archiveReplaceKeeps checks that closed periods and records of requests outlive a replacement. Gains do not.
func archiveReplaceKeeps(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, `,"periods":["month"]`))
	l := leased(t, a)
	d := int64(month.First)
	request := leaderboard.DigestOf([]byte("request"))
	batch := snapshot.Batch{Guild: refOf(g), Rev: 1, Rows: []snapshot.Row{gainRow(gainer1, 500, d, 40, int64(month.End), 7)}, Records: []snapshot.Record{{
		Name: leaderboard.DigestOf([]byte("name")), Request: request, At: time.Now(), Rev: 1, Outcome: "0 500 0", Users: []id.User{gainer1},
	}}}
	must(t, snapshot.WriteBatch(t.Context(), a, l, batch))
	r := checkpoints.Replacement{Guild: refOf(g), State: snapshot.State{Archived: 1}, Name: "before", Why: events.Cleared}
	if _, err := a.Replace(t.Context(), r); !errors.Is(err, checkpoints.ErrPeriodCloses) {
		t.Errorf("a replacement while a period is due: %v, want checkpoints.ErrPeriodCloses", err)
	}
	step := closing(g, month)
	step.Open, step.Next = periods.Open{period.Monthly: month.End}, time.Now().Add(24*time.Hour)
	closePeriods(t, a, l, step)
	mustGet(a.Replace(t.Context(), r))(t)
	now := mustGet(a.Guild(t.Context(), g.ID))(t)
	wantStandings(t, a, now, month, gainer1, int64(40))
	wantGains(t, a, now, gainer1)
	past := mustGet(a.Past(t.Context(), refOf(now), batch.Records[0].Name))(t)
	if !past.Made || past.Request != request || past.Outcome != "0 500 0" || len(past.Lost) > 0 {
		t.Errorf("the request's record is %+v, want it made with the outcome 0 500 0", past)
	}
	if s := mustGet(a.State(t.Context(), refOf(now)))(t); s.Epoch != 1 || s.Archived != 0 {
		t.Errorf("the state is %+v, want epoch 1 and nothing archived, so that a load reads the records", s)
	}
	purgeAll(t, a)
	wantStandings(t, a, now, month, gainer1, int64(40))
}

// archiveResets expects one reset for each change that matters to followers.
func archiveResets(t *testing.T, a store.Archive) {
	reward := `,"roleRewards":[{"level":1,"roles":[{"id":"300000000000000001","name":"One","color":null,"position":1}]}]`
	put(t, a, settingsOf(t, guildA, ""))
	put(t, a, settingsOf(t, guildA, `,"xpPerMessageMin":16`))
	wantResets(t, a)
	var g *guild.Guild
	own := reward + `,"curve":[56,-40,20]`
	for _, settings := range []string{reward, reward + `,"curve":"amari"`, own} {
		g = put(t, a, settingsOf(t, guildA, settings))
		reset := periods.Reset{Guild: refOf(g), Why: events.Settings}
		wantResets(t, a, reset)
		if err := a.Told(t.Context(), periods.Reset{Guild: reset.Guild, Why: events.Restored}); err != nil {
			t.Error(err)
		}
		wantResets(t, a, reset) // another reset was sent
		if err := a.Told(t.Context(), reset); err != nil {
			t.Error(err)
		}
		wantResets(t, a)
	}
	g = put(t, a, settingsOf(t, guildA, own+`,"xpPerMessageMin":17`))
	wantResets(t, a)
	s := g.Settings
	s.Curve = level.Curve{}
	g = mustGet(a.UpdateGuild(t.Context(), s, g.Edited))(t)
	wantResets(t, a, periods.Reset{Guild: refOf(g), Why: events.Settings})
}
