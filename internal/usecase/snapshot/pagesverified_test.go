package snapshot_test

import (
	"context"
	"errors"
	"testing"

	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/snapshot"
)

// After a restart of Redis a group's guilds are compared with the archive together and archived in the same round. A guild that was
// deleted meanwhile is dropped, and one that is older in Redis is loaded again.
func TestAGroupIsVerifiedAndArchivedInOneRound(t *testing.T) {
	w := stores.Restorable(t)
	ctx, guilds := w.Context(), smallGuilds(w, 40)
	w.Must(w.Writer("ready", stores.Never, &stores.Faults{}).Flush(ctx))
	w.Killed("ready")
	addAll(w, guilds, 0)
	const deleted, older = 3, 5
	_, err := w.Archive.DeleteGuild(ctx, guilds[deleted].ID)
	w.Must(err)
	lease, err := w.Archive.AcquireLease(ctx, "other", stores.Taken, false)
	w.Must(err)
	s, row := w.State(guilds[older]), w.LiveRows(guilds[older])[1]
	row.XP = 500
	w.Must(snapshot.WriteBatch(ctx, w.Archive, lease, snapshot.Batch{
		Guild: guilds[older], Epoch: s.Epoch, Rev: s.Archived + 50, Known: s.Archived, Rows: []snapshot.Row{row},
	}))
	w.Killed("other")
	w.GoBack(w.Keep())

	f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
		if c.Method == "ReadChanges" && len(c.Guilds) == 1 {
			t.Errorf("guild %s was read alone, want it with its group", c.Guild)
		}
		return nil
	}}
	w.Must(w.Writer("writer", stores.Never, f).Flush(ctx))
	if n := f.Count("WriteBatches"); n != 1 {
		t.Errorf("%d transactions were made, want 1", n)
	}
	for i, g := range guilds {
		if i != deleted {
			w.InStep(g)
		}
	}
	if keys := w.Redis.Keys(ctx, "lb:{"+string(guilds[deleted].ID)+"}:*").Val(); len(keys) > 0 {
		t.Errorf("Redis still has the deleted guild's keys %v", keys)
	}
	w.WantXPs(guilds[older], 101, 500, 100)
	if n := w.Logged.Count("Redis has gone back in time"); n != 1 {
		t.Errorf("%d log lines say that Redis has gone back, want 1:\n%s", n, w.Logged)
	}
}

// A guild whose comparison fails waits and is an error. The others of its group are archived.
func TestAFailedVerificationDelaysNoOtherGuild(t *testing.T) {
	w := stores.Restorable(t)
	ctx, guilds := w.Context(), smallGuilds(w, 20)
	w.GoBack(w.Keep())
	f := &stores.Faults{Before: func(_ context.Context, c stores.Call) error {
		if c.Method == "RaiseEpoch" && c.Guild == guilds[4].ID {
			return stores.ErrBroken
		}
		return nil
	}}
	if err := w.Writer("writer", stores.Never, f).Flush(ctx); !errors.Is(err, stores.ErrBroken) {
		t.Errorf("the flush: %v, want ErrBroken", err)
	}
	allInStep(w, append(guilds[:4:4], guilds[5:]...))
	w.Killed("writer")
	nobodyWaitsUnseen(w, guilds)
	w.Must(w.Writer("next", stores.Never, &stores.Faults{}).Flush(ctx))
	allInStep(w, guilds)
}
