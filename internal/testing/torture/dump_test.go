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

// dump is the state that Redis comes back with when it goes back in time.
type dump struct {
	at       time.Time          // everything acknowledged before is in it
	archived map[string]version // of each guild, what it knew to be in the archive or on its way there, as it was after the dump or at it
	unsaved  map[string]int64   // the XP of members that the archive may not have had yet, by guild/user
	waiting  map[string]bool    // members that may have waited for the archive in it, by guild/user; more than unsaved
	scores   map[string]int64   // the most XP that members may have in it, by guild/user
}

type version struct{ epoch, rev int64 }

func (v version) before(epoch, rev int64) bool {
	return v.epoch < epoch || v.epoch == epoch && v.rev < rev
}

// dumpNow makes Redis write the dump that it will come back with, between two requests of the clients. It writes none while a guild that went back to
// the earlier dump is not loaded again, since Redis does not hold the members' real states then.
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
		h.t.Fatalf("make Redis write a dump: %v", err)
	}
	// Changes that are not saved now were not saved then; those saved before and now were saved then.
	unsaved := h.waiting(ctx)
	d.scores = h.scores(ctx)
	for _, at := range append(waiting, unsaved...) {
		d.waiting[at] = true
	}
	for _, at := range unsaved {
		// A request whose outcome is unknown may still be under way.
		if xp, ok := before[at]; ok && d.scores[at] == xp {
			d.unsaved[at] = xp
		}
	}
	for _, guild := range []string{mainGuild, churnGuild} {
		found, err := h.live.HMGet(ctx, "lb:{"+guild+"}:meta", "epoch", "archived", "read").Result()
		if err != nil {
			h.t.Fatalf("read the version of a dump: %v", err)
		}
		d.archived[guild] = version{number(found[0]), max(number(found[1]), number(found[2]))}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dumped = d
}

// allLoaded reports whether the guilds are in use, which a request sees to.
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

// waiting lists the members that are not yet in the archive, as guild/user.
func (h *harness) waiting(ctx context.Context) (all []string) {
	for _, guild := range []string{mainGuild, churnGuild} {
		users, err := h.unsaved(ctx, guild)
		if err != nil && !errors.Is(err, redis.Nil) {
			h.t.Fatalf("read what is not saved of a dump: %v", err)
		}
		for _, user := range users {
			all = append(all, guild+"/"+user)
		}
	}
	return all
}

// scores reads the boards, past the service, by guild/user.
func (h *harness) scores(ctx context.Context) map[string]int64 {
	scores := map[string]int64{}
	for _, guild := range []string{mainGuild, churnGuild} {
		found, err := h.live.ZRangeWithScores(ctx, "lb:{"+guild+"}:xp", 0, -1).Result()
		if err != nil {
			h.t.Fatalf("read a board for a dump: %v", err)
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
