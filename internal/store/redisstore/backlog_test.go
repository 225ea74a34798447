package redisstore_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
)

// A scrape of the metrics comes every few seconds from each replica: what it costs Redis must not grow with the number of guilds that wait.
func TestTheBacklogOfManyGuildsIsTakenFromSome(t *testing.T) {
	client := connect(t, testenv.Redis(t).URL())
	const guilds = 6000
	var underway []id.Guild
	waiting := func(p redis.Pipeliner, g id.Guild, age time.Duration) {
		p.HSet(t.Context(), fmt.Sprintf("lb:{%s}:meta", g), "since", time.Now().Add(-age).UnixMilli())
		p.ZAdd(t.Context(), fmt.Sprintf("lb:{%s}:dirty", g), redis.Z{Score: 1, Member: "1"}, redis.Z{Score: 2, Member: "2"})
	}
	stuck := guildNo(4321).ID
	_, err := client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for i := range guilds {
			g := guildNo(i).ID
			waiting(p, g, time.Minute)
			if i < guilds/2 {
				underway = append(underway, g)
			}
			if i >= guilds/3 { // many are in both
				p.ZAdd(t.Context(), "lb:changed-guilds", redis.Z{Member: string(g)})
			}
		}
		waiting(p, stuck, time.Hour)
		return nil
	})
	ok(t, err)
	given := slices.Clone(underway)
	b, err := redisstore.New(client, redisstore.Options{}).Backlog(t.Context(), underway, []id.Guild{stuck})
	ok(t, err)
	if b.Members != 2*guilds || b.Oldest < time.Hour || b.Oldest > time.Hour+time.Minute {
		t.Errorf("backlog %+v, want %d members, and an hour, as of the guild that is stuck", b, 2*guilds)
	}
	if !slices.Equal(underway, given) {
		t.Error("it changed the list of the guilds underway")
	}
	stats, err := client.Info(t.Context(), "commandstats").Result()
	ok(t, err)
	asked := regexp.MustCompile(`cmdstat_zcard:calls=(\d+)`).FindStringSubmatch(stats)
	if n, err := strconv.Atoi(asked[1]); err != nil || n > guilds/2 {
		t.Errorf("%s guilds of %d were asked, %v", asked[1], guilds, err)
	}
}
