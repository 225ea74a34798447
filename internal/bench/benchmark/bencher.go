package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/bench/loadgen"
)

// bencher has the processes that are measured.
type bencher struct {
	options
	redis          *redis.Client
	service, floor *process
	floorURL       string
	// ready are the boards that are made, with the settings of a scenario without messages.
	ready map[board]bool
}

// board is what a load needs to be there.
type board struct{ members, guilds, first int }

// connections is how many ask at once, each waiting for its answer.
const connections = 64

// keyLimit is the limit of each load's key, in requests a minute: checked, and never reached.
const keyLimit = 100_000_000

// load is what to ask of the service.
type load struct {
	scenario    string
	members     int
	active      int // of them; 0 for all
	guilds      int // 0 for one
	first       int // number of the first guild
	page        int // 0 for random ones
	plain       bool
	rate        int // 0 for a closed loop
	connections int // 0 for the usual
	batch       string
	seconds     time.Duration // 0 for the usual
}

func (l load) board() board { return board{l.members, l.guilds, l.first} }

// serve puts a load on the service, once nothing is left to be saved of the one before. What is wrong with one request is wrong
// with the numbers, so it is an error.
func (b *bencher) serve(ctx context.Context, l load) (*loadgen.Result, error) {
	o, err := b.optionsOf(l)
	if err != nil {
		return nil, err
	}
	if l.scenario != loadgen.MessagesScenario {
		if err := b.fill(ctx, l); err != nil {
			return nil, err
		}
	}
	if err := b.settle(ctx); err != nil {
		return nil, err
	}
	needed := l.board()
	o.Ready = b.ready[needed]
	result, err := loadgen.Run(ctx, o)
	b.ready[needed] = err == nil && result.Messages == nil
	if err == nil && result.Interrupted {
		err = context.Canceled
	}
	if err == nil && result.Total.Failed() > 0 {
		err = fmt.Errorf("requests failed: %v", result.Total.Errors)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.scenario, err)
	}
	logResult(l.scenario, result)
	return result, nil
}

func (b *bencher) optionsOf(l load) (o loadgen.Options, err error) {
	scenario, found := loadgen.FindScenario(l.scenario)
	if !found {
		return o, fmt.Errorf("there is no scenario %s", l.scenario)
	}
	o = loadgen.Options{
		URL: b.url, Admin: b.admin, Scenario: scenario, Concurrency: cmp.Or(l.connections, connections), Rate: l.rate, Duration: b.seconds,
		Members: l.members, Active: l.active, Guilds: l.guilds, FirstGuild: l.first, Page: l.page, Plain: l.plain, KeyLimit: keyLimit, Skew: loadgen.Uniform, Seed: 1,
		Batch: loadgen.Mixed, Keep: true,
	}
	if l.scenario == loadgen.MessagesScenario {
		o.Skew, o.Batch = loadgen.Zipf, loadgen.Batch(l.batch)
	}
	if l.seconds > 0 {
		o.Duration = l.seconds
	}
	return o, nil
}

// fill makes the boards of a load that are not there yet, so that what is measured does not share the machine with their first
// snapshot.
func (b *bencher) fill(ctx context.Context, l load) error {
	if b.ready[l.board()] {
		return nil
	}
	if err := b.settle(ctx); err != nil {
		return err
	}
	l.scenario, l.seconds, l.rate = "rank", 100*time.Millisecond, 0
	o, err := b.optionsOf(l)
	if err != nil {
		return err
	}
	result, err := loadgen.Run(ctx, o)
	if err == nil && result.Interrupted {
		err = context.Canceled
	}
	if err != nil {
		return fmt.Errorf("fill boards of %d members: %w", l.members, err)
	}
	b.ready[l.board()] = true
	return nil
}

// ask puts load on a route of the floor.
func (b *bencher) ask(ctx context.Context, route string) (*loadgen.Result, error) {
	requests, found := loadgen.FloorRequests(route)
	if !found {
		return nil, fmt.Errorf("the floor has no route %s", route)
	}
	if err := b.settle(ctx); err != nil {
		return nil, err
	}
	result, err := loadgen.Ask(ctx, loadgen.AskOptions{
		Name: route, URL: b.floorURL, Requests: requests, Concurrency: connections, Duration: b.seconds, Seed: 1,
	})
	if err == nil && result.Interrupted {
		err = context.Canceled
	}
	if err == nil && result.Total.Failed() > 0 {
		err = fmt.Errorf("requests failed: %v", result.Total.Errors)
	}
	if err != nil {
		return nil, fmt.Errorf("floor %s: %w", route, err)
	}
	logResult("floor "+route, result)
	return result, nil
}

func logResult(name string, r *loadgen.Result) {
	log.Printf("%-20s %8.0f/s  p50 %.2f ms  p99 %.2f ms", name, r.Total.PerSecond, r.Total.Latency.P50, r.Total.Latency.P99)
}

// admin calls /admin of the service.
func (b *bencher) admin(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, b.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+b.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := adminClient.Do(request)
	if err != nil {
		return 0, nil, errors.New("the service does not answer")
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode > 299 {
		err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, answer)
	}
	return response.StatusCode, answer, err
}

var adminClient = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
