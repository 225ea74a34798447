// Package loadgen puts load on a running service over HTTP and measures how it answers. It is behind `levelboard bench`.
//
// The loop is closed, where each connection asks again as soon as it has its answer, or open, where requests are due at a fixed
// rate in the mean, whether the service keeps up or not. In a closed loop latencies hide what an arrival would have waited for
// (coordinated omission); in an open one they count from when a request was due. docs/benchmarks.md says what that means.
package loadgen

import (
	"cmp"
	"context"
	"errors"
	"time"

	"levelboard/internal/platform/pause"
)

const (
	// MaxConcurrency bounds Options.Concurrency.
	MaxConcurrency = 4096
	// MaxRate bounds Options.Rate.
	MaxRate = 1_000_000
	// MaxMembers bounds Options.Members.
	MaxMembers = 5_000_000
	// VerifiedByDefault is the most members whose XP is read before and after the load without being asked to: a page of
	// 100 at a time, so 400 requests.
	VerifiedByDefault = 20_000
	// VerifiedGuildsByDefault is the most guilds among which they may be spread for that.
	VerifiedGuildsByDefault = 100
)

// cleanupTime bounds the removal of what a run made, which goes on after an interruption.
const (
	cleanupTime     = time.Minute
	cleanupPerGuild = 10 * time.Millisecond
)

// AdminCall makes one request to /admin of the service, with the operator's token. The answer is that of a status 2xx; for
// any other the error is a sentence, and the status is the service's, or 0 when there was no answer.
type AdminCall func(ctx context.Context, method, path string, body []byte) (status int, answer []byte, err error)

// Options say what load to make. All but WatchOps, Progress and Warn are required; the bounds are for the caller to check.
type Options struct {
	URL   string // base of the service, http:// or https://, without slashes at its end
	Admin AdminCall

	Scenario    Scenario
	Concurrency int // connections, each with one request at a time; 1 to MaxConcurrency
	Rate        int // arrivals a second, at most MaxRate, over all connections; 0 for a closed loop
	Duration    time.Duration
	Members     int  // over all guilds; Guilds to MaxMembers
	Active      int  // how many of the members are drawn, the first ones, for scenarios that Spreads says; 0 is all
	Guilds      int  // 1 to MaxGuilds, for scenarios that Spreads says; 0 is 1
	FirstGuild  int  // number of the first of them, at most MaxGuilds, so that boards of several runs can be there at once
	KeyLimit    int  // a minute, of each key that the load is made with; 0 for none
	Plain       bool // ask for pages without Accept-Encoding: gzip
	Page        int  // the only page that is read, where Scenario reads pages; 0 for random ones among the first
	Skew        Skew
	Seed        uint64
	Batch       Batch  // messages in a call, where Scenario sends messages
	Replay      string // a recording that CheckRecording has read, to be sent instead; its header says Members, Skew, Seed, Batch

	Verify bool // compare the members' XP with what was acknowledged; of no effect where Scenario changes nothing
	Keep   bool // leave the guild and its members for the next run

	// Ready says that a run with Keep and the same Members, Guilds and FirstGuild left its boards, and that nobody changed them: only
	// keys are made, those for the load alone where nothing is verified, and guilds and members are not looked at. Of no use where Scenario sends messages.
	Ready bool

	WatchOps string            // base of the service's metrics, or empty
	Progress func(line string) // called once a second at most, from one goroutine at a time
	Warn     func(line string) // what is to be read before the load's end; by the goroutine that called Run, never at the same time as Progress

	sleep func(ctx context.Context, d time.Duration) bool // nil: sleep; for tests
}

// bench is one run.
type bench struct {
	Options
	crowded
	target *target
	ours   bool // the guilds are there, or may be, and are this run's to delete
	// Either none, or one for each grantsOfKey guilds in their order.
	loadKeys, setupKeys []apiKey
	replay              *replay // nil when there is none
	spoken              messageCounts
}

// Run makes what the load needs, puts it on the service for the duration or until ctx ends, and removes what it made. The
// Result is nil when no load was made. Otherwise it is complete, and an error beside it says that what was measured is
// wrong (see Result.Problem) or that something is left behind.
func Run(ctx context.Context, o Options) (*Result, error) {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Warn == nil {
		o.Warn = o.Progress
	}
	if o.sleep == nil {
		o.sleep = pause.For
	}
	o.Active = cmp.Or(o.Active, o.Members)
	target, err := newTarget(o.URL)
	if err != nil {
		return nil, err
	}
	b := &bench{Options: o, target: target, crowded: crowded{o.Members, max(o.Guilds, 1), o.FirstGuild}}
	if o.Replay != "" {
		f, err := openRecording(o.Replay)
		if err != nil {
			return nil, err
		}
		defer f.close()
		b.replay = &replay{f: f}
	}
	result, err := b.run(ctx)
	if result == nil && ctx.Err() != nil {
		err = errors.New("stopped before the load began")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime+time.Duration(b.guilds)*cleanupPerGuild)
	defer cancel()
	return result, errors.Join(err, b.tidy(ctx))
}

func (b *bench) run(ctx context.Context) (*Result, error) {
	err := b.prepare(ctx)
	if err != nil {
		return nil, err
	}
	before, verification, err := b.readBefore(ctx)
	if err != nil {
		return nil, err
	}
	ledger := newLedger(b.Members)
	result := b.load(ctx, ledger)
	if before != nil {
		verification = b.verify(ctx, ledger, before)
	}
	result.Verification = verification
	if b.replay != nil {
		err = b.replay.problem()
	}
	return result, errors.Join(result.Problem(), err)
}
