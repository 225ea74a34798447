package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/platform/pause"
)

// Ids as package loadgen gives them.
const (
	benchGuilds = 9_020_000_000_000_000_000
	benchUsers  = 9_100_000_000_000_000_000
)

func guildKey(number int, name string) string {
	return "lb:{" + strconv.Itoa(benchGuilds+number) + "}:" + name
}

// eachKey does something with each key of a pattern, a thousand in a round trip.
func (b *bencher) eachKey(ctx context.Context, pattern string, do func(p redis.Pipeliner, key string)) error {
	for cursor := uint64(0); ; {
		keys, next, err := b.redis.Scan(ctx, cursor, pattern, 1000).Result()
		if err != nil {
			return err
		}
		if _, err := b.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range keys {
				do(p, key)
			}
			return nil
		}); err != nil {
			return err
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// metas calls do with the meta of each guild of a size, a thousand in a round trip.
func (b *bencher) metas(ctx context.Context, s *sized, do func(p redis.Pipeliner, key string)) error {
	for from := 0; from < s.guilds; from += 1000 {
		if _, err := b.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i := from; i < min(from+1000, s.guilds); i++ {
				do(p, guildKey(s.first+i, "meta"))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// away makes the guilds look as if nobody had used them for two days, waits until they have left Redis, and asks for one of them.
func (b *bencher) away(ctx context.Context, s *sized) (err error) {
	if err := b.settle(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	long := time.Now().Add(-48 * time.Hour).UnixMilli()
	if err := b.metas(ctx, s, func(p redis.Pipeliner, key string) { p.HSet(ctx, key, "used", long) }); err != nil {
		return err
	}
	var began time.Time
	for left := s.guilds; left > 0; {
		var there []*redis.IntCmd
		if err := b.metas(ctx, s, func(p redis.Pipeliner, key string) { there = append(there, p.Exists(ctx, key)) }); err != nil {
			return err
		}
		left = 0
		for _, one := range there {
			left += int(one.Val())
		}
		if began.IsZero() && left < s.guilds {
			began = time.Now() // a sweep has found them
		}
		if left > 0 && !pause.For(ctx, settlePoll) {
			return fmt.Errorf("%d guilds do not leave Redis", left)
		}
	}
	if !began.IsZero() {
		s.evicting = time.Since(began)
	}
	for range 50 { // Redis frees what was unlinked in the background
		pending, err := b.redisInfo(ctx, "memory", "lazyfree_pending_objects")
		if err != nil {
			return err
		}
		if pending == "0" || !pause.For(ctx, settlePoll) {
			break
		}
	}
	if s.left, err = b.usedMemory(ctx); err != nil {
		return err
	}
	log.Printf("scaling: %d guilds of %d have left", s.guilds, s.members)
	return b.comeBack(ctx, s)
}

// comeBack asks for a member until it is told.
func (b *bencher) comeBack(ctx context.Context, s *sized) error {
	guild := strconv.Itoa(benchGuilds + s.first)
	request, err := json.Marshal(map[string]any{"name": "scaling", "ownerId": guild, "permission": "read", "guildIds": []string{guild}})
	if err != nil {
		return err
	}
	_, answer, err := b.admin(ctx, http.MethodPost, "/admin/keys", request)
	if err != nil {
		return err
	}
	var made struct{ ID, Key string }
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	began := time.Now()
	for {
		status, err := b.ask1(ctx, "/v2/levels/"+guild+"/users/"+strconv.Itoa(benchUsers), made.Key)
		if err != nil {
			return err
		}
		if status == http.StatusOK {
			break
		}
		if status != http.StatusServiceUnavailable {
			return fmt.Errorf("a member of a guild that was away: %d", status)
		}
		s.refused++
		pause.For(ctx, settlePoll)
	}
	s.firstRequest = time.Since(began)
	_, _, err = b.admin(ctx, http.MethodDelete, "/admin/keys/"+made.ID, nil)
	return err
}

// ask1 makes one request with a key.
func (b *bencher) ask1(ctx context.Context, path, key string) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.url+path, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("X-Api-Key", key)
	response, err := adminClient.Do(request)
	if err != nil {
		return 0, errors.New("the service does not answer")
	}
	return response.StatusCode, response.Body.Close()
}

func boardsTable(boards []*sized) string {
	t := table{header: []string{"members of a guild", "bytes of Redis for each", "increments a second", "of Redis's processor, µs each", "pages a second while 1,000 change", "reading a page takes Redis, µs", "members archived a second"}}
	for _, s := range boards {
		each := "" // of a small board it is lost among what the server does for itself
		if s.members >= 10_000 {
			each = whole(float64(s.full-s.empty) / float64(s.members))
		}
		t.add(whole(float64(s.members)), each, whole(s.increments), fixed(s.incrementMicros), whole(s.pages), whole(s.pageMicros), whole(s.archived))
	}
	return t.String()
}

func awayTable(boards []*sized) string {
	t := table{header: []string{"members of a guild", "MB of Redis with it", "once it has left", "first request after that, s", "refused (503) until then"}}
	for _, s := range boards {
		t.add(whole(float64(s.members)), fixed(float64(s.full-s.empty)/1e6), fixed(float64(s.left-s.empty)/1e6), fmt.Sprintf("%.3f", s.firstRequest.Seconds()), strconv.Itoa(s.refused))
	}
	return t.String()
}

func manyTable(many []*sized) string {
	t := table{header: []string{"guilds", "members of each", "bytes of Redis for each guild", "meta, xp, entry (MEMORY USAGE)", "and for an hour its events", "MB before", "MB once they have left", "left a second", "first request after that, ms", "members archived a second"}}
	for _, s := range many {
		t.add(whole(float64(s.guilds)), whole(float64(s.members)), whole(float64(s.full-s.empty)/float64(s.guilds)),
			fmt.Sprintf("%d, %d, %d", s.keys["meta"], s.keys["xp"], s.keys["entry"]), strconv.FormatInt(s.keys["events"], 10),
			fixed(float64(s.full-s.empty)/1e6), fixed(float64(s.left-s.empty)/1e6), whole(float64(s.guilds)/s.evicting.Seconds()), fixed(s.firstRequest.Seconds()*1000), whole(s.archived))
	}
	return t.String()
}
