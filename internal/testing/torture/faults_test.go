package torture

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"levelboard/internal/testing/testenv"
)

// fault breaks something for a while.
type fault struct {
	name    string
	target  string // at most one fault of a target at a time
	weight  int
	alone   bool // never together with another fault
	replica bool
	// begin breaks the target and returns a function that repairs it. Both run on the test's goroutine.
	begin func(h *harness, rng *rand.Rand) (mend func())
}

// faults lists the faults of a run's replicas and servers. Faults of a replica that is down are skipped.
func (h *harness) faults() []fault {
	var all []fault
	switch h.mode {
	case sentinel:
		all = sentinelFaults()
	case cluster:
		all = clusterFaults()
	default:
		all = append(h.redisFaults(), postgresFaults()...)
	}
	for _, r := range h.replicas {
		all = append(all,
			fault{name: "kill replica " + r.name, target: r.name, replica: true, weight: 1, begin: func(h *harness, _ *rand.Rand) func() { return h.endReplica(r, syscall.SIGKILL) }},
			fault{name: "terminate replica " + r.name, target: r.name, replica: true, weight: 1, begin: func(h *harness, _ *rand.Rand) func() { return h.endReplica(r, syscall.SIGTERM) }})
	}
	return all
}

// redisFaults are the faults of the single server.
func (h *harness) redisFaults() []fault {
	all := []fault{
		{name: "stop Redis", target: "redis", weight: 1, begin: func(h *harness, _ *rand.Rand) func() {
			h.freeze()
			h.redis.Pause()
			return func() { h.redis.Resume(); h.thaw() }
		}},
		{name: "cut the connections to Redis", target: "redis", weight: 1, begin: func(h *harness, _ *rand.Rand) func() {
			h.redisProxy.Cut()
			return func() {}
		}},
		{name: "drop answers of Redis", target: "redis", weight: 2, begin: func(h *harness, rng *rand.Rand) func() {
			h.redisProxy.Fail(rng.Uint64(), 0.01+0.15*rng.Float64(), testenv.NoReply)
			return func() { h.redisProxy.Fail(0, 0) }
		}},
		// In backwards mode it reads the archive meanwhile.
		{name: "kill Redis", target: "redis", weight: 3, alone: h.mode == backwards, begin: func(h *harness, _ *rand.Rand) func() {
			h.freeze()
			h.killRedis()
			return func() { h.redis.Start(); h.thaw() }
		}},
	}
	if h.mode == backwards {
		all = append(all, fault{name: "let Redis write a dump", target: "redis", weight: 2, begin: func(h *harness, _ *rand.Rand) func() {
			h.dumpNow()
			return func() {}
		}})
	}
	return all
}

func postgresFaults() []fault {
	return []fault{
		{name: "crash Postgres", target: "postgres", weight: 1, begin: func(h *harness, _ *rand.Rand) func() {
			h.postgres.Kill()
			return h.postgres.Start
		}},
		// Postgres has many processes. To the service it is the same if none of their bytes arrive.
		{name: "stop Postgres", target: "postgres", weight: 1, begin: func(h *harness, _ *rand.Rand) func() {
			h.pgProxy.Hold()
			return h.pgProxy.Release
		}},
		{name: "cut the connections to Postgres", target: "postgres", weight: 1, begin: func(h *harness, _ *rand.Rand) func() {
			h.pgProxy.Cut()
			return func() {}
		}},
		{name: "drop answers of Postgres", target: "postgres", weight: 1, begin: func(h *harness, rng *rand.Rand) func() {
			h.pgProxy.Fail(rng.Uint64(), 0.02+0.3*rng.Float64(), testenv.NoReply)
			return func() { h.pgProxy.Fail(0, 0) }
		}},
	}
}

func (h *harness) endReplica(r *replica, s syscall.Signal) func() {
	served := r.url.Load() != nil // before it serves, a signal may come too early
	wait := r.signal(s)
	if wait == nil {
		return func() {}
	}
	return func() {
		code, ok := wait()
		switch {
		case !ok:
			h.violation(nil, fmt.Sprintf("replica %s did not end within %v of a %v", r.name, patience, s))
		case s == syscall.SIGTERM && served && code != 0 && code != 1:
			h.violation(nil, fmt.Sprintf("replica %s ended with exit code %d after SIGTERM", r.name, code))
		}
	}
}

// revive starts the replicas that have ended.
func (h *harness) revive() {
	for _, r := range h.replicas {
		if err := r.revive(); err != nil {
			h.t.Fatalf("starting replica %s again: %v", r.name, err)
		}
	}
}

// torment causes faults until the time is over or there is a violation.
func (h *harness) torment(d time.Duration) {
	rng := h.stream(faultStream)
	faults := deck{rng: rng, all: h.faults()}
	for deadline := time.Now().Add(d); time.Now().Before(deadline) && h.running(); {
		h.pause(between(rng, 50, 350))
		first := faults.deal()
		mend := []func(){h.breakIt(first, rng)}
		if !first.alone && rng.IntN(3) == 0 {
			h.pause(between(rng, 0, 200))
			if second := faults.deal(); second.target != first.target && !second.alone {
				mend = append(mend, h.breakIt(second, rng))
				// A replica that must stop may need its servers, so it is waited for last.
				if first.replica {
					slices.Reverse(mend)
				}
			}
		}
		h.pause(between(rng, 20, 1000))
		for _, f := range mend {
			f()
		}
		h.revive() // also those whose start failed while a server was down
		h.checkReplicas()
	}
}

func (h *harness) breakIt(f fault, rng *rand.Rand) (mend func()) {
	h.tell("%s", f.name)
	h.faulted++
	if f.target == "redis" {
		h.redisBroken.Store(true)
	}
	undo := f.begin(h, rng)
	return func() {
		undo()
		if f.target == "redis" {
			h.redisBroken.Store(false)
		}
		h.tell("  over: %s", f.name)
	}
}

// checkReplicas reports a violation if a replica ended by itself or its log has a forbidden line.
func (h *harness) checkReplicas() {
	for _, r := range h.replicas {
		for _, trouble := range r.troubles() {
			h.violation(nil, fmt.Sprintf("replica %s: %s", r.name, trouble))
		}
	}
}

func between(rng *rand.Rand, low, high int) time.Duration {
	return time.Duration(low+rng.IntN(high-low)) * time.Millisecond
}

// deck deals faults in random order, each as often as its weight in every round, so that a short run has all of them.
type deck struct {
	rng  *rand.Rand
	all  []fault
	left []fault
}

func (d *deck) deal() fault {
	if len(d.left) == 0 {
		for _, f := range d.all {
			for range f.weight {
				d.left = append(d.left, f)
			}
		}
		d.rng.Shuffle(len(d.left), func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
	}
	f := d.left[0]
	d.left = d.left[1:]
	return f
}
