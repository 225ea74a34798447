package torture

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// trio is three replicas behind a balancer without sticky sessions, so that nearly every request of a client goes to another replica than
// the one before.
var trio = fleet{names: []string{"a", "b", "c"}, balanced: true}

// servedMeanwhile is the number of requests that the others must answer with 2xx while a replica is down.
const servedMeanwhile = 30

// Three replicas behind a balancer are killed one after another, again and again, and stopped by SIGTERM in one round. A change that one of
// them acknowledged is on all, once, and the others serve meanwhile.
func TestThreeReplicasAreKilledInTurn(t *testing.T) {
	testenv.Long(t)
	h := newHarness(t, durable, trio)
	h.under(func() { h.killInTurn(budget(t)) })
}

// killInTurn ends each replica in turn and starts it again, in two rounds or more. In the second round they get SIGTERM.
func (h *harness) killInTurn(d time.Duration) {
	rng := h.stream(faultStream)
	deadline := time.Now().Add(d)
	for round := 0; h.running() && (round < 2 || time.Now().Before(deadline)); round++ {
		signal := syscall.SIGKILL
		if round%4 == 1 {
			signal = syscall.SIGTERM
		}
		for _, r := range h.replicas {
			h.pause(between(rng, 50, 400))
			h.replace(r, signal)
			h.checkReplicas()
		}
	}
}

// replace ends a replica with a signal and starts it again. The others must serve meanwhile.
func (h *harness) replace(r *replica, s syscall.Signal) {
	if !h.running() {
		return
	}
	before := h.balancer.answered.Load()
	h.end(r, s)
	h.await(fmt.Sprintf("the other replicas serve on while %s is away", r.name), func() bool {
		return h.balancer.answered.Load()-before >= servedMeanwhile
	})
	h.restart(r)
}

// restart starts a replica that has ended, and waits until it serves.
func (h *harness) restart(r *replica) {
	if !h.running() {
		return
	}
	h.await(fmt.Sprintf("replica %s serves again", r.name), func() bool {
		h.revive() // again, as a supervisor does, if a server was slow
		return r.url.Load() != nil
	})
	h.tell("  replica %s serves again", r.name)
}

// end ends a replica with a signal. After SIGTERM it must exit without an error, because every server works.
func (h *harness) end(r *replica, s syscall.Signal) {
	h.tell("%v to replica %s", s, r.name)
	h.faulted++
	wait := r.signal(s)
	if wait == nil {
		h.violation(nil, fmt.Sprintf("replica %s does not run", r.name))
		return
	}
	if code, ok := wait(); !ok || s == syscall.SIGTERM && code != 0 {
		h.violation(nil, fmt.Sprintf("replica %s, after a %v: ended %v, exit code %d", r.name, s, ok, code))
	}
}

// await waits until so returns true, and reports a violation if it takes too long.
func (h *harness) await(what string, so func() bool) {
	if !testenv.Poll(patience, func() bool { return !h.running() || so() }) {
		h.violation(nil, fmt.Sprintf("not within %v: %s", patience, what))
	}
}
