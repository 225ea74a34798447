package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/bench/loadgen"
)

const (
	// connections is how many ask at once, each waiting for its answer.
	connections = 64
	// keyLimit is the limit of each load's key, in requests a minute: checked, and never reached.
	keyLimit = 100_000_000
	// attempts is how often a load is tried: a machine that stands still for a second fails some requests.
	attempts = 3
)

// bencher has the processes that are measured.
type bencher struct {
	options
	redis          *redis.Client
	service, floor *process
	floorURL       string
	ready          map[board]bool // the boards that are made
}

// board is what a load needs to be there.
type board struct{ members, guilds, first int }

// load is what to ask of the service.
type load struct {
	scenario string
	board
	page        int    // 0 for random ones
	connections int    // 0 for the usual
	batch       string // empty for mixed
}

// serve puts a load on the service, once nothing is left to be saved of the one before.
func (b *bencher) serve(ctx context.Context, l load) (*loadgen.Result, error) {
	if !b.ready[l.board] { // first, so that the load does not share the machine with the board's first snapshot
		fill := loadgen.Options{URL: b.url, Duration: 100 * time.Millisecond}
		if _, err := b.run(ctx, "fill", fill, load{scenario: "rank", board: l.board}); err != nil {
			return nil, err
		}
		b.ready[l.board] = true
	}
	return b.run(ctx, l.scenario, loadgen.Options{URL: b.url, Duration: b.each}, l)
}

// ask puts a load on a route of the floor.
func (b *bencher) ask(ctx context.Context, route string, l load) (*loadgen.Result, error) {
	return b.run(ctx, "floor "+route, loadgen.Options{URL: b.floorURL + "/" + route, Duration: b.each, Bare: true}, l)
}

// run tries a load again if one request failed: what is wrong with it is wrong with the numbers.
func (b *bencher) run(ctx context.Context, name string, o loadgen.Options, l load) (result *loadgen.Result, err error) {
	for range attempts {
		if err := b.settle(ctx); err != nil {
			return nil, err
		}
		if result, err = b.try(ctx, name, o, l); err == nil || ctx.Err() != nil {
			return result, err
		}
		log.Print(err)
	}
	return nil, err
}

func (b *bencher) try(ctx context.Context, name string, o loadgen.Options, l load) (*loadgen.Result, error) {
	var found bool
	if o.Scenario, found = loadgen.FindScenario(l.scenario); !found {
		return nil, fmt.Errorf("there is no scenario %s", l.scenario)
	}
	o.AdminToken, o.Concurrency, o.KeyLimit, o.Seed = b.token, cmp.Or(l.connections, connections), keyLimit, 1
	o.Members, o.Guilds, o.FirstGuild, o.Page = l.members, l.guilds, l.first, l.page
	o.Keep, o.Ready = true, b.ready[l.board]
	o.Skew, o.Batch = loadgen.Uniform, loadgen.Mixed
	if l.batch != "" {
		o.Skew, o.Batch = loadgen.Zipf, loadgen.Batch(l.batch)
	}
	result, err := loadgen.Run(ctx, o)
	if err == nil && result.Interrupted {
		err = context.Canceled
	}
	if err == nil && result.Total.Failed() > 0 {
		err = fmt.Errorf("requests failed: %v", result.Total.Errors)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	log.Printf("%-20s %8.0f/s  p50 %.2f ms  p99 %.2f ms", name, result.Total.PerSecond, result.Total.Latency.P50, result.Total.Latency.P99)
	return result, nil
}
