package torture

import (
	"sync"
	"testing"

	"levelboard/internal/testing/testenv"
)

// Redis syncs its append-only file before each answer, so it loses nothing. Whichever process is killed, each acknowledged change counts once,
// and each other one at most once.
func TestNothingAcknowledgedIsLostOrDoubled(t *testing.T) { torture(t, durable) }

// A Redis without a disk comes back empty. Everything that was archived is there again.
func TestARedisThatComesBackEmptyLosesNoMoreThanWasNotSaved(t *testing.T) { torture(t, volatile) }

// An old dump comes back. No member has less XP than in the archive, and later acknowledged changes stay.
func TestXPNeverMovesBackWhenRedisDoes(t *testing.T) { torture(t, backwards) }

func torture(t *testing.T, m mode) {
	if m != durable {
		testenv.Long(t)
	}
	h := newHarness(t, m, pair)
	h.restorer = newRestorer(h)
	if m == durable {
		h.announced = newAnnounced(h)
	}
	h.under(func() { h.torment(budget(t)) })
}

// under runs the clients while faults happen, and then compares all data with the model.
func (h *harness) under(trouble func()) {
	var all sync.WaitGroup
	for _, c := range h.clients {
		all.Go(c.run)
	}
	all.Go(h.operator.run)
	if h.restorer != nil {
		all.Go(h.restorer.run)
	}
	if h.announced != nil {
		all.Go(h.announced.run)
	}
	if h.mode == volatile {
		all.Go(h.watchFloors)
	}
	trouble()
	h.tell("no more faults")
	h.halt()
	all.Wait()
	h.finish()
	if h.isBroken() {
		h.t.Fatal(h.report())
	}
	h.summary()
}

// finish checks all data after the last fault.
func (h *harness) finish() {
	if h.isBroken() || !h.awaitReady() {
		return
	}
	// After many refused connections go-redis tries only once a second.
	testenv.Wait(h.t, "the harness reaches Redis", func() bool { return h.live.Ping(h.t.Context()).Err() == nil })
	if h.announced != nil {
		h.announced.check()
	}
	h.fronts = h.replicas // check each replica
	h.checkBoards()
	if h.isBroken() || !h.awaitRemoval() {
		return
	}
	h.stopReplicas()
	if h.isBroken() {
		return
	}
	if err := h.checkArchive(); err != nil {
		h.t.Fatal(err)
	}
}

// summary logs how much was tried, because a run that tried nothing finds nothing.
func (h *harness) summary() {
	events, answered := 0, 0
	members := h.members()
	for _, m := range members {
		for _, e := range m.history {
			events++
			if e.answered {
				answered++
			}
		}
	}
	loads, returns := 0, 0
	for _, r := range h.replicas {
		loads, returns = loads+r.loads, returns+r.returns
	}
	h.t.Logf("%d requests about %d members, %d answered; %d faults; a guild was recreated %d times, loaded from the archive %d times, found older in Redis %d times",
		events, len(members), answered, h.faulted, h.operator.born-1, loads, returns)
	var calls callCount
	for _, c := range h.clients {
		calls.hides += c.calls.hides
		calls.all, calls.large, calls.repeated = calls.all+c.calls.all, calls.large+c.calls.large, calls.repeated+c.calls.repeated
	}
	h.t.Logf("%d calls with messages or puts, %d with several steps, %d of these repeated; flags were changed %d times", calls.all, calls.large, calls.repeated, calls.hides)
	if r := h.restorer; r != nil {
		h.t.Logf("a guild was changed %d times, and restored or reset %d times", r.did.changes, r.did.restores)
	}
	if answered == 0 || calls.large == 0 || calls.hides == 0 {
		h.t.Errorf("%d requests, %d large calls and %d changes of flags were answered, want some of each", answered, calls.large, calls.hides)
	}
}
