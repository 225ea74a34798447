package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"levelboard/internal/bench/loadgen"
	"levelboard/internal/platform/pause"
)

const (
	sizeBoard = 2                     // the guild's number
	sizeGuild = "9000000000000000003" // its id
	starts    = 5                     // of the service, to see how long one takes
	idleTime  = 5 * time.Second       // without a request, before the memory is looked at
)

// sizeLoads are under which the service's memory is looked at, one after another.
var sizeLoads = []load{
	{scenario: "increment"}, {scenario: "rank"}, {scenario: "page-while-writing"}, {scenario: "poll"}, {scenario: "mixed"},
	{scenario: loadgen.MessagesScenario, batch: "100"}, {scenario: loadgen.MessagesScenario, batch: "1000"},
}

// size measures the bytes of Redis for each member, the service's memory, and how long it takes to start.
func (b *bencher) size(ctx context.Context) (string, error) {
	t := newTable("", "measured")
	on := board{members: b.scaled(1_000_000), first: sizeBoard}
	if err := b.memberBytes(ctx, on, t); err != nil {
		return "", err
	}
	var start []float64
	for range starts {
		took, err := b.restartService(ctx)
		if err != nil {
			return "", err
		}
		start = append(start, took.Seconds()*1000)
	}
	if !pause.For(ctx, idleTime) {
		return "", ctx.Err()
	}
	idle, err := b.service.memory("VmRSS")
	if err != nil {
		return "", err
	}
	for _, l := range sizeLoads {
		l.board = on
		if _, err := b.serve(ctx, l); err != nil {
			return "", err
		}
	}
	most, err := b.service.memory("VmHWM")
	if err != nil {
		return "", err
	}
	t.add("service idle, MB resident", megabytes(idle))
	t.add("service under load, MB resident at most", megabytes(most))
	t.add("start to ready, ms", whole(median(start)))
	return t.String(), nil
}

// memberBytes makes the board and sees what it takes, once the archive has it.
func (b *bencher) memberBytes(ctx context.Context, on board, t *table) error {
	before, err := b.usedMemory(ctx)
	if err != nil {
		return err
	}
	if _, err := b.serve(ctx, load{scenario: "rank", board: on}); err != nil {
		return err
	}
	if err := b.settle(ctx); err != nil {
		return err
	}
	after, err := b.usedMemory(ctx)
	if err != nil {
		return err
	}
	t.add("bytes of Redis for each member, all included", whole(float64(after-before)/float64(on.members)))
	for _, key := range []string{"xp", "entry"} {
		bytes, err := b.redis.MemoryUsage(ctx, "lb:{"+sizeGuild+"}:"+key, 0).Result()
		if err != nil {
			return fmt.Errorf("ask Redis for the size of %s: %w", key, err)
		}
		t.add("of them in `"+key+"` (MEMORY USAGE)", whole(float64(bytes)/float64(on.members)))
	}
	return nil
}

func (b *bencher) usedMemory(ctx context.Context) (int64, error) {
	text, err := b.redisInfo(ctx, "memory", "used_memory")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}
