package torture

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// aloneFor is how long each version serves alone, under load.
const aloneFor = time.Second

// eachServes is how many requests each replica has to answer with 2xx before the next one is replaced.
const eachServes = 30

// The version before and this one serve the same guilds side by side, under load, on the way there and on the way back, and
// nothing acknowledged by either is lost or doubled by the other. Where a commit says that this cannot be, the old replicas
// all end before the first new one starts, and the same holds.
func TestUpgradeFromTheVersionBefore(t *testing.T) {
	program, name := previous(t)
	before := trio
	before.program = program
	h := newHarness(t, durable, before)
	reason := h.apart(program)
	h.under(func() {
		if reason == "" {
			t.Logf("from %s and back, one replica after the other", name)
			h.rollOver(program)
			return
		}
		t.Logf("from %s, all of it ended before this version starts, and no way back without emptying Redis or a backup: %s", name, reason)
		h.changeOver()
	})
}

// rollOver replaces one replica after the other by this version, then by the one before again, and then one of them by
// this version once more, so that the end is looked at through both.
func (h *harness) rollOver(before string) {
	rng := h.stream(faultStream)
	roll := func(order []*replica, program string) {
		killed := rng.IntN(len(order)) // a rollout does not always go as it should
		for i, r := range order {
			signal := syscall.SIGTERM
			if i == killed {
				signal = syscall.SIGKILL
			}
			h.replace(r, signal, program)
			h.allServe()
		}
		h.pause(aloneFor)
		h.checkReplicas()
	}
	h.pause(aloneFor)
	h.allServe()
	roll(h.replicas, "")
	h.tell("this version alone")
	back := slices.Clone(h.replicas)
	slices.Reverse(back)
	roll(back, before)
	h.tell("the version before alone again")
	roll(h.replicas[:1], "")
}

// changeOver tells all replicas of the version before to end, and then starts this one. None is killed: what a killed one
// left unsaved in a format that this version does not use keeps its guild from being loaded until the version before has archived it
// (docs/operations.md).
func (h *harness) changeOver() {
	h.pause(aloneFor)
	h.allServe()
	for _, r := range h.replicas {
		h.end(r, syscall.SIGTERM)
		r.program = "" // before the first one starts again: restart starts all that have ended
	}
	h.tell("the version before has ended")
	for _, r := range h.replicas {
		h.restart(r)
	}
	h.allServe()
	h.pause(aloneFor)
	h.checkReplicas()
}

// allServe waits until each replica has answered some requests more.
func (h *harness) allServe() {
	for _, r := range h.replicas {
		until := r.answered.Load() + eachServes
		h.await(fmt.Sprintf("replica %s answers requests", r.name), func() bool { return r.answered.Load() >= until })
	}
}
