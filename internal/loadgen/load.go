package loadgen

import (
	"context"
	"fmt"
	"time"
)

// progressInterval is how often a line says how far it is.
const progressInterval = time.Second

// shared is what this run's connections share.
func (b *bench) shared(l *ledger) *shared {
	return &shared{
		guildPath:    b.target.prefix + "/v2/levels/" + guildID,
		messagesPath: b.target.prefix + "/v2/guilds/" + guildID + "/messages",
		headers:      b.target.headers(b.key.secret),
		members:      b.Members,
		skew:         b.Skew,
		batch:        b.Batch,
		replay:       b.replay,
		spoken:       &b.spoken,
		ledger:       l,
	}
}

// load is the measured part of a run.
func (b *bench) load(ctx context.Context, l *ledger) *Result {
	running, cancel := context.WithTimeout(ctx, b.Duration)
	defer cancel()
	record := newRecorder(len(b.Scenario.shares))
	watched := watch(running, b.WatchOps)
	began, cpu := time.Now(), cpuTime()
	stop := every(progressInterval, b.progress(record, began))
	crowd := &crowd{
		target: b.target, shared: b.shared(l), shares: b.Scenario.shares, connections: b.Concurrency, seed: b.Seed, recorder: record,
	}
	crowd.run(running)
	took := time.Since(began)
	stop()
	result := b.report(record.totals(), took)
	result.GeneratorCPU = (cpuTime() - cpu).Seconds()
	result.Interrupted = ctx.Err() != nil
	cancel()
	result.Watched = watched()
	return result
}

// progress returns what says how the load goes, for every second.
func (b *bench) progress(record *recorder, began time.Time) func() {
	last, lastCount := began, int64(0)
	return func() {
		succeeded, failed := record.count()
		now := time.Now()
		rate := float64(succeeded-lastCount) / now.Sub(last).Seconds()
		last, lastCount = now, succeeded
		line := fmt.Sprintf("%s of %s: %s requests a second, %s in all", now.Sub(began).Round(time.Second), b.Duration, grouped(int64(rate)), grouped(succeeded))
		if failed > 0 {
			line += fmt.Sprintf(", %s errors", grouped(failed))
		}
		b.Progress(line)
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
