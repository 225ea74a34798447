package loadgen

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// progressInterval is how often a line says how far it is.
const progressInterval = time.Second

// shared is what this run's connections share, with keys of makeKeys.
func (b *bench) shared(keys []apiKey, l *ledger) *shared {
	var headers []string
	for _, key := range keys {
		headers = append(headers, b.target.headers(key.secret))
	}
	return &shared{
		levelsPath: b.target.prefix + "/v2/levels/",
		guildsPath: b.target.prefix + "/v2/guilds/",
		headers:    headers,
		crowded:    b.crowded,
		page:       b.Page,
		plain:      b.Plain,
		skew:       b.Skew,
		active:     b.Active,
		batch:      b.Batch,
		replay:     b.replay,
		spoken:     &b.spoken,
		ledger:     l,
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
	shared := b.shared(b.loadKeys, l)
	measured := &crowd{
		target: b.target, shared: shared, shares: b.Scenario.shares, connections: b.Concurrency, seed: b.Seed, recorder: record, duration: b.Duration,
	}
	if b.Rate > 0 {
		measured.arrivals = newArrivals(b.Rate, b.Seed, true)
	}
	writers := b.write(running, shared)
	measured.run(running)
	took := time.Since(began)
	stop()
	result := b.report(record.totals(), took)
	if measured.arrivals != nil {
		result.Open = measured.arrivals.report(result.Total, min(b.Duration, took))
	}
	result.GeneratorCPU = (cpuTime() - cpu).Seconds()
	result.Interrupted = ctx.Err() != nil
	cancel()
	result.Writers = writers()
	result.Watched = watched()
	return result
}

// write makes the increments beside the load until ctx ends. The function that it returns waits for that; nil when there are none.
func (b *bench) write(ctx context.Context, s *shared) (end func() *Writers) {
	rate := b.Scenario.writers
	if rate == 0 {
		return func() *Writers { return nil }
	}
	record := newRecorder(1)
	writers := &crowd{
		target: b.target, shared: s, shares: []share{{increment, 1}}, connections: writerConnections, seed: b.Seed + 1, recorder: record,
		arrivals: newArrivals(rate, b.Seed, false), duration: b.Duration,
	}
	began, took := time.Now(), time.Duration(0)
	var group sync.WaitGroup
	group.Go(func() {
		writers.run(ctx)
		took = time.Since(began)
	})
	return func() *Writers {
		group.Wait()
		return &Writers{Asked: rate, Measured: measured(increment.name, record.totals()[0], took)}
	}
}

// writerConnections are enough for the writers' rate unless the service takes very long.
const writerConnections = 16

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
