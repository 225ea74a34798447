package storetest

import (
	"errors"
	"testing"
	"time"

	"levelboard/internal/store"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

func archiveLease(t *testing.T, a store.Archive) {
	g := put(t, a, settingsOf(t, guildA, ""))
	first := leased(t, a)
	if again := leased(t, a); again != first {
		t.Errorf("renewing changed the lease from %+v to %+v", first, again)
	}
	if _, err := a.AcquireLease(t.Context(), "other", time.Hour, false); !errors.Is(err, lease.ErrLost) {
		t.Errorf("acquiring a held lease: %v, want lease.ErrLost", err)
	}
	for _, wrong := range []lease.Lease{{Holder: "other", Fence: first.Fence}, {Holder: first.Holder, Fence: first.Fence + 1}, {}} {
		err := snapshot.WriteBatch(t.Context(), a, wrong, snapshot.Batch{Guild: refOf(g), Rev: 9, Rows: []snapshot.Row{row("300000000000000001", 1)}})
		if !errors.Is(err, lease.ErrLost) {
			t.Errorf("a batch with the lease %+v: %v, want lease.ErrLost", wrong, err)
		}
		if err := a.ReleaseLease(t.Context(), wrong); err != nil {
			t.Errorf("releasing a lease that is not held: %v, want nil", err)
		}
	}
	wantState(t, a, g, 0, 0)
	writeRows(t, a, first, g, 0, 1, row("300000000000000001", 1))
	must(t, a.ReleaseLease(t.Context(), first))
	next, err := a.AcquireLease(t.Context(), "other", time.Hour, false)
	if err != nil || next.Fence <= first.Fence {
		t.Errorf("after the release the lease is %+v (%v), want a fence above %d", next, err, first.Fence)
	}
	if err := snapshot.WriteBatch(t.Context(), a, first, snapshot.Batch{Guild: refOf(g), Rev: 2}); !errors.Is(err, lease.ErrLost) {
		t.Errorf("the former holder's batch: %v, want lease.ErrLost", err)
	}
}

func archiveLeaseExpiry(t *testing.T, a store.Archive) {
	first := mustGet(a.AcquireLease(t.Context(), "first", time.Millisecond, false))(t)
	testenv.Wait(t, "the lease expires", func() bool {
		second, err := a.AcquireLease(t.Context(), "second", time.Hour, false)
		if err != nil && !errors.Is(err, lease.ErrLost) {
			t.Fatal(err)
		}
		if err == nil && second.Fence <= first.Fence {
			t.Errorf("the second holder has fence %d, want one above %d", second.Fence, first.Fence)
		}
		return err == nil
	})
	if _, err := a.AcquireLease(t.Context(), "first", time.Hour, false); !errors.Is(err, lease.ErrLost) {
		t.Errorf("acquiring the second holder's lease: %v, want lease.ErrLost", err)
	}
}

// A clock that was an hour ahead and was set back leaves a lease that would block everybody for that hour.
func archiveLeaseTooFarAhead(t *testing.T, a store.Archive) {
	first := mustGet(a.AcquireLease(t.Context(), "first", time.Hour+time.Minute, false))(t)
	second, err := a.AcquireLease(t.Context(), "second", time.Minute, false)
	if err != nil || second.Fence <= first.Fence {
		t.Fatalf("over a lease that ends too late the new one is %+v (%v), want a fence above %d", second, err, first.Fence)
	}
	if _, err := a.AcquireLease(t.Context(), "third", time.Minute, false); !errors.Is(err, lease.ErrLost) {
		t.Errorf("acquiring a held lease: %v, want lease.ErrLost", err)
	}
}
