package torture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// dump is the state that Redis comes back with when it goes back in time.
type dump struct {
	at       time.Time          // everything acknowledged before is in it
	archived map[string]version // of each guild, what it knew to be in the archive or on its way there, as it was after the dump or at it
	unsaved  map[string]int64   // the XP of members of the main guild that the archive may not have had yet, by user
}

type version struct{ epoch, rev int64 }

func (v version) before(epoch, rev int64) bool {
	return v.epoch < epoch || v.epoch == epoch && v.rev < rev
}

// dumpNow makes Redis write the dump that it will come back with, between two requests of the clients.
func (h *harness) dumpNow() {
	h.gate.Lock()
	defer h.gate.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	d := dump{at: time.Now(), archived: map[string]version{}, unsaved: map[string]int64{}}
	before := h.scores(ctx)
	if err := h.live.Save(ctx).Err(); err != nil {
		h.t.Fatalf("make Redis write a dump: %v", err)
	}
	// What is not saved now was not saved then.
	unsaved, err := h.unsaved(ctx, mainGuild)
	if err != nil && !errors.Is(err, redis.Nil) {
		h.t.Fatalf("read what is not saved of a dump: %v", err)
	}
	after := h.scores(ctx)
	for _, user := range unsaved {
		// A request whose outcome is unknown may still be under way.
		if xp, ok := before[user]; ok && after[user] == xp {
			d.unsaved[user] = xp
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

// scores reads the main guild's board, past the service.
func (h *harness) scores(ctx context.Context) map[string]int64 {
	found, err := h.live.ZRangeWithScores(ctx, "lb:{"+mainGuild+"}:xp", 0, -1).Result()
	if err != nil {
		h.t.Fatalf("read a board for a dump: %v", err)
	}
	scores := map[string]int64{}
	for _, z := range found {
		if z.Member != "" {
			scores[fmt.Sprint(z.Member)] = int64(z.Score)
		}
	}
	return scores
}

func number(v any) int64 {
	n, _ := strconv.ParseInt(fmt.Sprint(v), 10, 64)
	return n
}

// killRedis kills Redis in the middle of everything, and tells the model what it may have lost, before it comes back.
func (h *harness) killRedis() {
	h.redis.Kill()
	if h.mode == durable {
		return
	}
	h.gate.Lock() // all that was under way has ended: with an answer, or with an unknown outcome
	defer h.gate.Unlock()
	var rows map[string]archived
	if h.mode == backwards {
		var err error
		if rows, err = h.quietRows(); err != nil {
			h.t.Fatalf("read the archive while Redis is down: %v", err)
		}
	}
	h.losses++
	now := time.Now()
	for _, m := range h.members() {
		floor := h.floorOf(m.guild, m.user)
		states := m.since(floor)
		if h.mode == backwards {
			states = h.merged(m, rows, states)
		}
		m.returned(now, states)
		m.remember(event{began: now, ended: now, replica: "-", what: "Redis is killed", outcome: "what was so at " + floor.Format(clock) + " survives", after: m.String()})
	}
	for _, c := range h.counters {
		row := rows[c.guild+"/"+c.user]
		floor := h.floorOf(c.guild, c.user)
		c.keep(floor, row.XP)
		c.note(event{began: now, ended: now, replica: "-", what: "Redis is killed", outcome: "what was so at " + floor.Format(clock) + " survives", after: c.String()})
	}
}

// merged is what a member may be after an old dump came back: what the archive holds, or what the dump may hold of it, but
// never with less XP than in the archive, nor with less than in the dump when the archive may not have had that yet.
func (h *harness) merged(m *member, rows map[string]archived, dumped []state) []state {
	row, ok := rows[m.guild+"/"+m.user]
	if ok && row.Deleted && h.dumped.archived[m.guild].before(row.Epoch, row.Rev) {
		return []state{{}} // deleted since, and archived; a row has the rev of its oldest change, and one that the dump knew of is no newer
	}
	archive := row.state()
	if !ok {
		archive = state{}
	}
	least, unsaved := int64(0), false
	if m.guild == mainGuild {
		least, unsaved = h.dumped.unsaved[m.user]
	}
	var all []state
	if !unsaved || archive.exists && archive.xp >= least {
		all = append(all, archive)
	}
	for _, s := range dumped {
		if !s.exists {
			continue
		}
		if archive.exists {
			s.xp, s.messages = max(s.xp, archive.xp), max(s.messages, archive.messages)
			// The user's data comes from whichever is later.
			all = append(all, state{true, s.xp, archive.name, s.messages})
		}
		all = append(all, s)
	}
	return slices.DeleteFunc(all, func(s state) bool { return s.exists && s.xp < least })
}

// members lists every member that one client owns.
func (h *harness) members() []*member {
	var all []*member
	for _, c := range h.clients {
		all = append(all, c.members...)
	}
	if h.operator.alive {
		all = append(all, h.operator.members...)
	}
	return all
}
