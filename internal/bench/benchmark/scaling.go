package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// scalingFirst is the number of the first guild of the first board; each size has numbers of its own.
	scalingFirst = 400_000
	scalingStep  = 100_000
	// pageReads is how many pages are read to see what one costs Redis.
	pageReads = 300
	pageRows  = 100
	// leaveTime is how long guilds may take to leave Redis.
	leaveTime = 10 * time.Minute
)

// scalingSettings let guilds leave soon after their last use was made to look old.
var scalingSettings = map[string]string{"LEVELBOARD_GUILD_IDLE": "24h", "LEVELBOARD_SNAPSHOT_INTERVAL": "1s"}

// sized is a number of guilds of one size, and what was measured of them.
type sized struct {
	guilds, members int // members of each guild
	first           int

	full, empty     int64 // used_memory with and without them
	keys            map[string]int64
	evicting        time.Duration
	firstRequest    time.Duration
	refused         int     // requests until then that were 503
	increments      float64 // a second
	pages           float64 // a second, each read from Redis
	incrementMicros float64 // of Redis's processor, each
	pageMicros      float64
	left            int64   // used_memory once they have left
	archived        float64 // members written to the archive in a second of the writer's time
}

func (b *bencher) scalingSizes() (boards, many []*sized) {
	one, few := []int{100, 10_000, 100_000, 1_000_000, 5_000_000}, [][2]int{{5_000, 1}, {5_000, 10}, {2_000, 100}}
	if b.quick {
		one, few = []int{100, 1_000, 10_000}, [][2]int{{1_000, 1}, {500, 10}}
	}
	first := scalingFirst
	add := func(guilds, members int) *sized {
		first += scalingStep
		return &sized{guilds: guilds, members: members, first: first, keys: map[string]int64{}}
	}
	for _, n := range one {
		boards = append(boards, add(1, n))
	}
	for _, n := range few {
		many = append(many, add(n[0], n[1]))
	}
	return boards, many
}

// scaling measures what guilds of several sizes cost, what they leave behind when nobody uses them, and what it takes to come back.
func (b *bencher) scaling(ctx context.Context) (text string, err error) {
	for name, value := range scalingSettings {
		if err := os.Setenv(name, value); err != nil {
			return "", err
		}
		defer os.Unsetenv(name)
	}
	if _, err := b.restartService(ctx); err != nil {
		return "", err
	}
	boards, many := b.scalingSizes()
	for _, s := range append(many, boards...) {
		if err := b.scale(ctx, s); err != nil {
			return "", fmt.Errorf("%d guilds of %d: %w", s.guilds, s.members, err)
		}
	}
	return boardsTable(boards) + "\n" + awayTable(boards) + "\n" + manyTable(many), nil
}

func (b *bencher) scale(ctx context.Context, s *sized) (err error) {
	if s.empty, err = b.usedMemory(ctx); err != nil {
		return err
	}
	log.Printf("scaling: filling %d guilds of %d", s.guilds, s.members)
	fill := load{scenario: "rank", members: s.guilds * s.members, guilds: s.guilds, first: s.first, seconds: time.Second}
	if s.guilds == 1 {
		fill.guilds = 0
	}
	if s.archived, err = b.archiveRate(ctx, fill); err != nil {
		return err
	}
	log.Printf("scaling: measuring %d guilds of %d", s.guilds, s.members)
	defer func() { log.Printf("scaling: measured %d guilds of %d: %+v", s.guilds, s.members, *s) }()
	if err := b.sizeOf(ctx, s); err != nil {
		return err
	}
	if s.guilds == 1 {
		if err := b.workOf(ctx, s, fill); err != nil {
			return err
		}
	}
	return b.away(ctx, s)
}

// archiveRate fills boards and sees how fast their members were written to the archive, by the writer's own count and time.
func (b *bencher) archiveRate(ctx context.Context, fill load) (rate float64, err error) {
	var seen [2]struct{ members, seconds float64 }
	for i := range seen {
		if i == 1 {
			_, err = b.serve(ctx, fill)
		}
		if err == nil {
			err = b.settle(ctx)
		}
		if err == nil {
			seen[i].members, err = b.gauge(ctx, "levelboard_snapshot_members_total")
		}
		if err == nil {
			seen[i].seconds, err = b.gauge(ctx, "levelboard_snapshot_duration_seconds_sum")
		}
		if err != nil {
			return 0, err
		}
	}
	return (seen[1].members - seen[0].members) / (seen[1].seconds - seen[0].seconds), nil
}

// sizeOf sees what the guilds take. Their logs of events are not counted: they expire after an hour.
func (b *bencher) sizeOf(ctx context.Context, s *sized) (err error) {
	for _, name := range []string{"meta", "xp", "entry"} {
		if s.keys[name], err = b.redis.MemoryUsage(ctx, guildKey(s.first, name), 0).Result(); err != nil {
			return fmt.Errorf("ask Redis for the size of %s: %w", name, err)
		}
	}
	for _, pattern := range []string{"lb:{*}:events:*", "rate:*"} {
		if err := b.eachKey(ctx, pattern, func(p redis.Pipeliner, key string) {
			if s.keys["events"] == 0 && pattern[0] == 'l' {
				s.keys["events"] = b.redis.MemoryUsage(ctx, key, 0).Val()
			}
			p.Unlink(ctx, key)
		}); err != nil {
			return err
		}
	}
	s.full, err = b.usedMemory(ctx)
	return err
}

// workOf sees what a write and a page cost.
func (b *bencher) workOf(ctx context.Context, s *sized, l load) error {
	l.seconds = 0
	l.scenario = "increment"
	before, err := b.redisProcessor(ctx)
	if err != nil {
		return err
	}
	result, err := b.serve(ctx, l)
	if err != nil {
		return err
	}
	after, err := b.redisProcessor(ctx)
	if err != nil {
		return err
	}
	s.increments = result.Total.PerSecond
	s.incrementMicros = (after - before).Seconds() * 1e6 / (result.Total.PerSecond * b.seconds.Seconds())
	l.scenario = "page-while-writing"
	if result, err = b.serve(ctx, l); err != nil {
		return err
	}
	s.pages = result.Total.PerSecond
	s.pageMicros, err = b.pageCost(ctx, s)
	return err
}

// redisProcessor is how much of a processor Redis has used.
func (b *bencher) redisProcessor(ctx context.Context) (time.Duration, error) {
	var sum float64
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		text, err := b.redisInfo(ctx, "cpu", name)
		if err != nil {
			return 0, err
		}
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, err
		}
		sum += seconds
	}
	return time.Duration(sum * float64(time.Second)), nil
}

// pageCost is what the commands that read a page take of Redis's time, by its own statistics, over pages from all of the board.
func (b *bencher) pageCost(ctx context.Context, s *sized) (micros float64, err error) {
	if err := b.redis.ConfigResetStat(ctx).Err(); err != nil {
		return 0, err
	}
	for i := range pageReads {
		offset := int64(s.members) * int64(i) / pageReads
		rows, err := b.redis.ZRevRangeWithScores(ctx, guildKey(s.first, "xp"), offset, offset+pageRows-1).Result()
		if err != nil {
			return 0, err
		}
		members := make([]string, len(rows))
		for i, row := range rows {
			members[i] = row.Member.(string)
		}
		if err := b.redis.HMGet(ctx, guildKey(s.first, "entry"), members...).Err(); err != nil {
			return 0, err
		}
	}
	for _, command := range []string{"zrevrange", "hmget"} {
		text, err := b.redisInfo(ctx, "commandstats", "cmdstat_"+command)
		if err != nil {
			return 0, err
		}
		var calls, all int64
		if _, err := fmt.Sscanf(text, "calls=%d,usec=%d", &calls, &all); err != nil || calls < pageReads {
			return 0, errors.New("the statistics of Redis' commands cannot be read")
		}
		micros += float64(all) / float64(calls)
	}
	return micros, nil
}
