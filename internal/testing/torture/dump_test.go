package torture

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// dump is the state to which Redis goes back.
type dump struct {
	at       time.Time          // every change acknowledged before is in it
	archived map[string]version // by guild: the rev that was archived or being archived, at the dump or after
	unsaved  map[string]int64   // XP of members that the archive may lack, by guild/user
	waiting  map[string]bool    // members that may have waited for the archive, by guild/user; includes unsaved
	scores   map[string]int64   // the most XP that members may have, by guild/user
}

type version struct{ epoch, rev int64 }

func (v version) before(epoch, rev int64) bool {
	return v.epoch < epoch || v.epoch == epoch && v.rev < rev
}

// dumpNow makes Redis write the dump that it will go back to, between two requests of the clients. It writes none while a guild that went
// back is not loaded again, because Redis does not have the members' real states then.
func (h *harness) dumpNow() {
	h.gate.Lock()
	defer h.gate.Unlock()
	if !h.allLoaded() {
		h.tell("  no dump: a guild is not loaded")
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d := dump{at: time.Now(), archived: map[string]version{}, unsaved: map[string]int64{}, waiting: map[string]bool{}}
	before, waiting := h.scores(ctx), h.waiting(ctx)
	if err := h.live.Save(ctx).Err(); err != nil {
		h.t.Fatalf("making Redis write a dump: %v", err)
	}
	// Changes that wait now also waited at the dump. Those that waited before the dump and now also did.
	unsaved := h.waiting(ctx)
	d.scores = h.scores(ctx)
	for _, at := range append(waiting, unsaved...) {
		d.waiting[at] = true
	}
	for _, at := range unsaved {
		// A request with an unknown outcome may still be running.
		if xp, ok := before[at]; ok && d.scores[at] == xp {
			d.unsaved[at] = xp
		}
	}
	for _, guild := range []string{mainGuild, churnGuild} {
		found, err := h.live.HMGet(ctx, "lb:{"+guild+"}:meta", "epoch", "archived", "read").Result()
		if err != nil {
			h.t.Fatalf("reading the version of a dump: %v", err)
		}
		d.archived[guild] = version{number(found[0]), max(number(found[1]), number(found[2]))}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dumped = d
}

// allLoaded reports whether all guilds are loaded. Its request loads them.
func (h *harness) allLoaded() bool {
	guilds := []string{mainGuild}
	if h.operator.alive {
		guilds = append(guilds, churnGuild)
	}
	serves := slices.IndexFunc(h.replicas, func(r *replica) bool { return r.url.Load() != nil })
	return serves >= 0 && !slices.ContainsFunc(guilds, func(guild string) bool {
		return h.call(h.replicas[serves], http.MethodGet, "/v2/levels/"+guild+"?page=1", "", nil).verdict != done
	})
}

// waiting lists the members that the archive lacks, as guild/user.
func (h *harness) waiting(ctx context.Context) (all []string) {
	for _, guild := range []string{mainGuild, churnGuild} {
		users, err := h.unsaved(ctx, guild)
		if err != nil && !errors.Is(err, redis.Nil) {
			h.t.Fatalf("reading the waiting members of a dump: %v", err)
		}
		for _, user := range users {
			all = append(all, guild+"/"+user)
		}
	}
	return all
}

// scores reads the boards directly, by guild/user.
func (h *harness) scores(ctx context.Context) map[string]int64 {
	scores := map[string]int64{}
	for _, guild := range []string{mainGuild, churnGuild} {
		found, err := h.live.ZRangeWithScores(ctx, "lb:{"+guild+"}:xp", 0, -1).Result()
		if err != nil {
			h.t.Fatalf("reading a board for a dump: %v", err)
		}
		for _, z := range found {
			scores[guild+"/"+fmt.Sprint(z.Member)] = int64(z.Score)
		}
	}
	return scores
}

func number(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	return n
}
