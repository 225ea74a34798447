package torture

import (
	"fmt"
	"strings"
	"sync"
	"syscall"
)

// checkBoards compares all reads of each replica with the model and with each other.
func (h *harness) checkBoards() {
	for i, r := range h.replicas {
		reader := &client{h: h, name: "end", rng: h.stream(finalStream), current: i}
		if !h.checkHidden(reader) {
			return
		}
		ranks, ok := h.settle(i)
		if !ok {
			return
		}
		for _, c := range h.counters {
			if !h.checkCounter(reader, c) {
				return
			}
		}
		h.checkBoard(reader, mainGuild, ranks, len(h.counters))
		if h.operator.alive {
			h.checkBoard(reader, churnGuild, ranks, 0)
			h.checkPeriods(reader, churnGuild)
		}
		h.checkPeriods(reader, mainGuild)
		if h.restorer != nil && !h.restorer.settle(i) {
			return
		}
		h.tell("replica %s shows what it must", r.name)
	}
}

// settle reads every member from one replica until no change is pending and the member's state is certain. It returns the ranks of existing
// members by guild/user.
func (h *harness) settle(replica int) (ranks map[string]int64, ok bool) {
	var (
		all sync.WaitGroup
		mu  sync.Mutex
	)
	ranks, ok = map[string]int64{}, true
	owners := append([]*client(nil), h.clients...)
	if h.operator.alive {
		owners = append(owners, h.operator.client)
	}
	for _, owner := range owners {
		owner.current = replica
		all.Go(func() {
			for _, m := range owner.members {
				rank, settled := h.settled(owner, m)
				mu.Lock()
				ok = ok && settled
				if rank > 0 {
					ranks[m.guild+"/"+m.user] = rank
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return ranks, ok
}

// settled reads a member until no change is pending and the member's state is certain.
func (h *harness) settled(owner *client, m *member) (rank int64, ok bool) {
	ok = h.until(m, func() bool {
		var definite bool
		rank, definite = owner.read(m)
		return definite && len(m.pending) == 0
	}, "a read of a member")
	return rank, ok
}

func (h *harness) checkCounter(final *client, c *counter) bool {
	return h.until(c, func() bool {
		xp, definite := final.readCounter(c)
		if definite {
			c.settledAt(xp)
		}
		return definite
	}, "a read of a member")
}

// checkBoard reads all pages of a guild. Together they must be one board of exactly the existing members, with the ranks of the members' own
// reads.
func (h *harness) checkBoard(final *client, guild string, ranks map[string]int64, more int) {
	final.members = h.members()
	all, definite := h.readBoard(final, guild, "")
	if !definite {
		return
	}
	unshown := map[string]bool{}
	for at := range ranks {
		if strings.HasPrefix(at, guild+"/") {
			unshown[at] = true
		}
	}
	for _, m := range final.members {
		if at := guild + "/" + m.user; m.guild == guild && m.flags != 0 {
			h.checkHiddenRank(m, ranks[at], all)
			delete(unshown, at)
		}
	}
	others := 0
	for _, row := range all {
		at := guild + "/" + row.UserID
		rank, known := ranks[at]
		delete(unshown, at)
		switch {
		case !known:
			others++
		case rank != row.Rank:
			h.violation(nil, fmt.Sprintf("user %s has rank %d on its page and %d in its entry", row.UserID, row.Rank, rank))
		}
	}
	if len(unshown) > 0 || others != more {
		h.violation(nil, fmt.Sprintf("the pages of guild %s lack %v, and have %d members besides, not %d", guild, unshown, others, more))
	}
}

// readBoard reads all pages, each until it is answered.
func (h *harness) readBoard(final *client, guild, kind string) (all []pageRow, definite bool) {
	for number := 1; ; number++ {
		var rows []pageRow
		answered := h.until(nil, func() (definite bool) {
			rows, definite = final.page(guild, kind, number)
			return definite
		}, "page %d of guild %s, period %q", number, guild, kind)
		if !answered {
			return nil, false
		}
		if len(all) > 0 && len(rows) > 0 && !rows[0].mayFollow(all[len(all)-1], kind) {
			h.violation(nil, fmt.Sprintf("page %d of guild %s, period %q, begins before the one before ends", number, guild, kind))
		}
		all = append(all, rows...)
		if len(rows) < pageSize {
			return all, true
		}
	}
}

// stopReplicas stops the service in an orderly way. Every server works, so each replica must exit without an error.
func (h *harness) stopReplicas() {
	for _, r := range h.replicas {
		wait := r.signal(syscall.SIGTERM)
		if wait == nil {
			h.violation(nil, fmt.Sprintf("replica %s does not run at the end", r.name))
			return
		}
		code, ok := wait()
		if !ok || code != 0 {
			h.violation(nil, fmt.Sprintf("replica %s, told to end when nothing was broken: ended %v, exit code %d", r.name, ok, code))
		}
	}
	h.checkReplicas()
}

// checkArchive compares the archive with Redis, member by member, after the service stopped. There must be no other rows.
func (h *harness) checkArchive() error {
	rows, err := h.rows()
	if err != nil {
		return fmt.Errorf("reading the archive: %w", err)
	}
	kept := map[string]entry{}
	for at, row := range rows {
		if !row.Deleted {
			kept[at] = entry{row.XP, row.Messages, row.Updated, row.Cooldown, row.Gained, row.Name, row.Away}
		}
	}
	live := map[string]entry{}
	for _, guild := range []string{mainGuild, churnGuild, restoreGuild, announcedGuild} {
		loaded, err := h.readLive(guild, live)
		if err != nil {
			return fmt.Errorf("reading Redis: %w", err)
		}
		if loaded {
			continue
		}
		// Redis lost the guild, and no request has loaded it since.
		for at := range kept {
			if strings.HasPrefix(at, guild+"/") {
				delete(kept, at)
			}
		}
	}
	for at, e := range live {
		if kept[at] != e {
			h.violation(h.subjectOf(at), fmt.Sprintf("member %s is %+v in Redis and %+v in the archive after the last snapshot", at, e, kept[at]))
		}
		delete(kept, at)
		h.checkKept(at, rows[at].state())
	}
	for at, e := range kept {
		h.violation(h.subjectOf(at), fmt.Sprintf("member %s is %+v in the archive and not in Redis", at, e))
	}
	strays, err := h.strays()
	if err == nil && strays > 0 {
		h.violation(nil, fmt.Sprintf("%d rows of the archive belong to no guild", strays))
	}
	if err == nil && h.counts {
		if strays, err = h.strayGains(); err == nil && strays > 0 {
			h.violation(nil, fmt.Sprintf("%d gains of the archive belong to no guild, to no member or to another day", strays))
		}
	}
	return err
}

// checkKept compares a member's row in the archive with the model.
func (h *harness) checkKept(at string, row state) {
	switch about := h.subjectOf(at).(type) {
	case *member:
		if !about.shows(func(s state) bool { return s == row }) {
			h.violation(about, fmt.Sprintf("member %s is %s in the archive, which cannot be: it was %s", at, row, about))
		}
	case *counter:
		if h.counts && row.gained != row.xp {
			h.violation(about, fmt.Sprintf("member %s gained all of its %d XP, and the archive says %d", at, row.xp, row.gained))
		}
	}
}

func (h *harness) subjectOf(at string) subject {
	for _, m := range h.members() {
		if m.guild+"/"+m.user == at {
			return m
		}
	}
	for _, c := range h.counters {
		if c.guild+"/"+c.user == at {
			return c
		}
	}
	return nil
}
