package main

import (
	"context"
	"fmt"
	"log"
	"strconv"
	"time"

	"levelboard/internal/bench/loadgen"
	"levelboard/internal/platform/pause"
)

const (
	sizeBoard = 2 // the guild's number
	// sizeGuild is its id.
	sizeGuild = "9020000000000000002"
	// starts is how many times the service is started to see how long that takes.
	starts = 5
	// idleTime is how long the service is left alone before its memory is looked at.
	idleTime = 5 * time.Second
)

// aims of size.
const (
	mostMemberBytes = 350
	mostIdle        = 30 // MB
	mostLoaded      = 120
	mostStart       = 100 // ms
)

// sizeLoads are under which the service's memory is looked at, one after another.
var sizeLoads = []load{
	{scenario: "increment"}, {scenario: "rank"}, {scenario: "page-while-writing"}, {scenario: "poll"}, {scenario: "mixed"},
	{scenario: loadgen.MessagesScenario, batch: "100"}, {scenario: loadgen.MessagesScenario, batch: "1000"},
}

// sizes are what size measures.
type sizes struct {
	members      int
	parts        []keySize
	difference   int64 // of used_memory
	idle, loaded int64 // resident, in bytes
	start        []float64
}

type keySize struct {
	title string
	bytes int64
}

// size measures the bytes of Redis for each member, the service's memory, and how long it takes to start.
func (b *bencher) size(ctx context.Context) (string, error) {
	s := sizes{members: b.boards().large}
	if err := b.memberBytes(ctx, &s); err != nil {
		return "", err
	}
	for range starts {
		took, err := b.restartService(ctx)
		if err != nil {
			return "", err
		}
		s.start = append(s.start, took.Seconds()*1000)
	}
	if !pause.For(ctx, idleTime) {
		return "", ctx.Err()
	}
	var err error
	if s.idle, err = b.service.resident(); err != nil {
		return "", err
	}
	most := b.service.watchResident()
	for _, l := range sizeLoads {
		l.members, l.first = s.members, sizeBoard
		if _, err := b.serve(ctx, l); err != nil {
			most()
			return "", err
		}
	}
	s.loaded = most()
	return s.table(), nil
}

// memberBytes makes the board and sees what it takes, once the archive has it.
func (b *bencher) memberBytes(ctx context.Context, s *sizes) error {
	before, err := b.usedMemory(ctx)
	if err != nil {
		return err
	}
	log.Printf("size: filling a board of %d", s.members)
	if _, err := b.serve(ctx, load{scenario: "rank", members: s.members, first: sizeBoard, seconds: time.Second}); err != nil {
		return err
	}
	if err := b.settle(ctx); err != nil {
		return err
	}
	after, err := b.usedMemory(ctx)
	if err != nil {
		return err
	}
	s.difference = after - before
	for _, key := range []keySize{{title: "xp"}, {title: "entry"}} {
		if key.bytes, err = b.redis.MemoryUsage(ctx, "lb:{"+sizeGuild+"}:"+key.title, 0).Result(); err != nil {
			return fmt.Errorf("ask Redis for the size of %s: %w", key.title, err)
		}
		s.parts = append(s.parts, key)
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

func (s sizes) table() string {
	each := func(bytes int64) float64 { return float64(bytes) / float64(s.members) }
	t := table{header: []string{"", "measured", "aim"}}
	for _, part := range s.parts {
		t.add("bytes of Redis for each member: "+part.title+" (MEMORY USAGE)", fmt.Sprintf("%.1f", each(part.bytes)), "")
	}
	t.add("bytes of Redis for each member, all included (used_memory, after it less before it)", judged(each(s.difference), mostMemberBytes, true), "at most 350")
	t.add("service idle, MB resident", judged(float64(s.idle)/1e6, mostIdle, true), "under 30")
	t.add("service under load, MB resident at most", judged(float64(s.loaded)/1e6, mostLoaded, true), "under 120")
	t.add("start to ready, ms", judged(median(s.start), mostStart, true), "under 100")
	return t.String() + fmt.Sprintf("\nWith %s members in one board. Load: increment, rank, page-while-writing, poll, mixed, and messages 100 and 1000 a call, one after another.\n", whole(float64(s.members)))
}
