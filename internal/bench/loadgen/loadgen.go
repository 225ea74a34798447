// Package loadgen puts load on a running service over HTTP and measures how it answers, for `levelboard-bench`. It starts no service and
// reads no store.
//
// The loop is closed, where each connection asks again as soon as it has its answer, or open, where requests are due at random
// times at a fixed mean rate, whether the service keeps up or not. In an open loop latencies count from when a request was due.
package loadgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
)

// The upper bounds of Options.
const (
	MaxConcurrency = 4096
	MaxRate        = 1_000_000
	MaxMembers     = 5_000_000
	MaxGuilds      = 100_000
	maxBatch       = 1000
)

// tidyTime bounds the removal of what a run made, which an interruption does not stop.
const tidyTime = 2 * time.Minute

// Options say what load to make. The caller checks the bounds.
type Options struct {
	URL        string // base of the service, without a slash at its end
	AdminToken string

	Scenario    Scenario
	Concurrency int // connections, each with one request at a time
	Rate        int // requests a second that are due, over all connections; 0 for a closed loop
	Duration    time.Duration
	Members     int // over all guilds
	Active      int // how many of the members are asked for, the first ones; 0 is all
	Guilds      int // for scenarios that Spreads; 0 is 1
	FirstGuild  int // number of the first guild, so that the boards of several runs can be there at once
	KeyLimit    int // requests a minute of each key that the load is made with; 0 for no limit
	Page        int // the only page that is read; 0 for random ones among the first 100
	Skew        Skew
	Seed        uint64
	Batch       Batch // messages in a call

	Verify bool // compare the members' XP with what was acknowledged, where the scenario changes XP
	Keep   bool // leave the guilds and their members for the next run
	Ready  bool // a run with Keep and the same members and guilds left its boards: do not look at them
	Bare   bool // the server is no Levelboard: make no guilds, members and keys

	OpsURL   string // base of the service's metrics; empty reads none
	Progress func(line string)

	cooldown time.Duration // 0 is that of the rules; for tests
}

// bench is one run.
type bench struct {
	Options
	spread
	client *client
	ours   bool // the guilds are there, or may be, and are this run's to delete
	// One key for each grantsOfKey guilds, in their order.
	loadKeys, setupKeys []apiKey
	ledger              *ledger
	messages            atomic.Int64 // in calls that were acknowledged
}

// Run makes what the load needs, puts the load on the service for the duration or until ctx ends, and removes what it made. The
// Result is nil if no load was made. Otherwise it is complete, and an error beside it says that what was measured is
// wrong (see Result.Problem) or that something is left behind.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	o.Active = cmp.Or(o.Active, o.Members)
	b := &bench{
		Options: o, spread: spread{o.Members, max(o.Guilds, 1), o.FirstGuild}, client: newClient(o.URL, o.AdminToken, o.Concurrency), ledger: newLedger(o.Members),
	}
	defer b.client.close()
	result, err := b.run(ctx)
	if result == nil && ctx.Err() != nil {
		err = errors.New("stopped before the load began")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	return result, errors.Join(err, b.tidy(ctx))
}

func (b *bench) run(ctx context.Context) (*Result, error) {
	if err := b.prepare(ctx); err != nil {
		return nil, err
	}
	verify := b.Verify && b.Scenario.Changes()
	var before board
	if verify {
		var err error
		if before, err = b.readBoard(ctx); err != nil {
			return nil, fmt.Errorf("read the members before the load: %w", err)
		}
	}
	result := b.load(ctx)
	if verify {
		result.Verification = b.verify(ctx, before)
	}
	return result, result.problem()
}

// load is the measured part of a run.
func (b *bench) load(ctx context.Context) *Result {
	running, cancel := context.WithTimeout(ctx, b.Duration)
	defer cancel()
	watched := watch(running, b.OpsURL)
	main := &crowd{bench: b, shares: b.Scenario.shares, connections: b.Concurrency, seed: b.Seed, record: newRecorder(len(b.Scenario.shares))}
	if b.Rate > 0 {
		main.arrivals = newArrivals(b.Rate, b.Seed)
	}
	writers := &crowd{bench: b, shares: []share{{increment, 1}}, connections: writerConnections, seed: b.Seed + 1, record: newRecorder(1)}
	writersEnd := func() *Writers { return nil }
	if rate := b.Scenario.writers; rate > 0 {
		writers.arrivals = newArrivals(rate, b.Seed+1)
		ended := make(chan time.Duration, 1)
		go func() { ended <- writers.run(running) }()
		writersEnd = func() *Writers {
			return &Writers{rate, measured(increment.name, writers.record.tallies[0], <-ended)}
		}
	}
	stop := every(time.Second, b.progress(main.record))
	took := main.run(running)
	stop()
	result := b.report(main, took)
	result.Interrupted = ctx.Err() != nil
	cancel()
	result.Writers, result.Watched = writersEnd(), watched()
	return result
}

// writerConnections are enough for the writers' rate unless the service takes very long.
const writerConnections = 16

// progress returns what says how the load goes, for every second.
func (b *bench) progress(record *recorder) func() {
	began, last, lastCount := time.Now(), time.Now(), int64(0)
	return func() {
		succeeded, failed := record.count()
		rate := float64(succeeded-lastCount) / time.Since(last).Seconds()
		last, lastCount = time.Now(), succeeded
		b.Progress(fmt.Sprintf("%s of %s: %s requests a second, %s in all, %s errors",
			time.Since(began).Round(time.Second), b.Duration, humanize.Comma(int64(rate)), humanize.Comma(succeeded), humanize.Comma(failed)))
	}
}

// every calls f at each interval, until the function that it returns is called, which waits for a call that is under way.
func every(interval time.Duration, f func()) (stop func()) {
	ticker := time.NewTicker(interval)
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				f()
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(quit)
		<-ended
	}
}
