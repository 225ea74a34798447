package leaderboard_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// memory is a board of one guild for the tests of this package. storetest tests real live stores.
type memory struct {
	leaderboard.Board // for methods that no test here calls
	mu                sync.Mutex
	loaded            bool
	members           map[id.User]leaderboard.Member
	absent            map[id.User]bool
	awarded           map[leaderboard.Digest][]leaderboard.Awarded
	version           leaderboard.Version
	cooldown          time.Duration // the last change's cooldown
	order             []leaderboard.Ranked
	ordered           leaderboard.Version // the version that order is of

	during func() // runs before each step of many members
	err    error  // fails every step
	after  bool   // err comes after the step was made
	calls  int
}

func newMemory() *memory {
	return &memory{
		members: map[id.User]leaderboard.Member{}, absent: map[id.User]bool{}, awarded: map[leaderboard.Digest][]leaderboard.Awarded{},
	}
}

// step runs one atomic step, and moves the version if it changes something.
func step[T any](m *memory, changes bool, do func() (T, error)) (v T, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	if m.err != nil && !m.after {
		return v, m.err
	}
	if !m.loaded {
		return v, cmp.Or(m.err, leaderboard.ErrNotLoaded)
	}
	if v, err = do(); err == nil && changes {
		m.version.Rev++
	}
	return v, cmp.Or(m.err, err)
}

func (m *memory) drop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.loaded = false
}

func (m *memory) ranked() []leaderboard.Ranked {
	if m.order != nil && m.ordered == m.version {
		return m.order
	}
	var all []leaderboard.Ranked
	for user, member := range m.members {
		if !m.absent[user] {
			all = append(all, leaderboard.Ranked{Member: member})
		}
	}
	slices.SortFunc(all, func(a, b leaderboard.Ranked) int {
		return cmp.Or(cmp.Compare(b.XP, a.XP), strings.Compare(string(b.UserID), string(a.UserID)))
	})
	for i := range all {
		all[i].Rank = int64(i + 1)
	}
	m.order, m.ordered = all, m.version
	return all
}

func (m *memory) Member(_ context.Context, _ leaderboard.GuildRef, user id.User) (leaderboard.Ranked, error) {
	return step(m, false, func() (leaderboard.Ranked, error) {
		all := m.ranked()
		at := slices.IndexFunc(all, func(r leaderboard.Ranked) bool { return r.UserID == user })
		if at < 0 {
			return leaderboard.Ranked{}, leaderboard.ErrNoMember
		}
		return all[at], nil
	})
}

func (m *memory) Page(_ context.Context, _ leaderboard.GuildRef, offset, limit int64) (leaderboard.Page, error) {
	return step(m, false, func() (leaderboard.Page, error) {
		all := m.ranked()
		n := int64(len(all))
		return leaderboard.Page{Version: m.version, Rows: all[min(offset, n):min(offset+limit, n)]}, nil
	})
}

func (m *memory) View(_ context.Context, _ leaderboard.GuildRef, look leaderboard.Look) (leaderboard.View, error) {
	return step(m, false, func() (v leaderboard.View, err error) {
		all := m.ranked()
		for _, user := range look.Users {
			if at := slices.IndexFunc(all, func(r leaderboard.Ranked) bool { return r.UserID == user }); at >= 0 {
				v.Members = append(v.Members, all[at])
			}
		}
		return v, nil
	})
}

func (m *memory) Version(context.Context, leaderboard.GuildRef) (leaderboard.Version, error) {
	return step(m, false, func() (leaderboard.Version, error) { return m.version, nil })
}

func (m *memory) Create(_ context.Context, _ leaderboard.GuildRef, user id.User, c leaderboard.Creation) (leaderboard.Outcome, error) {
	return step(m, true, func() (leaderboard.Outcome, error) {
		if _, there := m.members[user]; there {
			return leaderboard.Outcome{}, leaderboard.ErrMemberExists
		}
		m.members[user] = leaderboard.Member{UserID: user, XP: c.XP, User: c.User}
		return leaderboard.Outcome{After: c.XP}, nil
	})
}

func (m *memory) Change(_ context.Context, _ leaderboard.GuildRef, user id.User, c leaderboard.Change) (leaderboard.Outcome, error) {
	return step(m, true, func() (leaderboard.Outcome, error) {
		member, there := m.members[user]
		if !there {
			return leaderboard.Outcome{}, leaderboard.ErrNoMember
		}
		out := leaderboard.Outcome{Before: member.XP, After: member.XP + c.Amount} // as for an increment
		member.XP, m.cooldown = out.After, c.Cooldown
		m.members[user] = member
		return out, nil
	})
}

func (m *memory) Delete(_ context.Context, _ leaderboard.GuildRef, user id.User, _ leaderboard.Removal) (bool, error) {
	return step(m, true, func() (bool, error) {
		if _, there := m.members[user]; !there {
			return false, leaderboard.ErrNoMember
		}
		delete(m.members, user)
		return false, nil
	})
}

// Award gives the offered XP, without cooldowns.
func (m *memory) Award(_ context.Context, _ leaderboard.GuildRef, a leaderboard.Awards) (got []leaderboard.Awarded, replayed bool, err error) {
	if m.during != nil {
		m.during()
	}
	got, err = step(m, true, func() ([]leaderboard.Awarded, error) {
		if before, made := m.awarded[a.Once.Key]; made && a.Once != (leaderboard.Once{}) {
			replayed = true
			return before, nil
		}
		var all []leaderboard.Awarded
		for _, offer := range a.Members {
			member := m.members[offer.User]
			one := leaderboard.Awarded{Before: member.XP, MessageCount: member.MessageCount, Gained: slices.Clone(offer.Offers)}
			for _, xp := range offer.Offers {
				if xp != leaderboard.Uncounted {
					member.UserID, member.XP, member.MessageCount = offer.User, min(member.XP+xp, level.MaxXP), member.MessageCount+1
				}
			}
			if all = append(all, one); member.UserID != "" {
				m.members[offer.User] = member
			}
		}
		m.awarded[a.Once.Key] = all
		return all, nil
	})
	return got, replayed, err
}

func (m *memory) SetPresence(_ context.Context, _ leaderboard.GuildRef, p leaderboard.Presence) (leaderboard.Moved, error) {
	if m.during != nil {
		m.during()
	}
	return step(m, true, func() (moved leaderboard.Moved, err error) {
		for _, user := range p.Users {
			if m.absent[user] == p.Present {
				moved.Changed++
			}
			m.absent[user] = !p.Present
		}
		return moved, nil
	})
}

// loader loads the board's guild, or fails.
type loader struct {
	board *memory
	err   error
	after func()
	calls int
}

func (l *loader) Load(context.Context, leaderboard.GuildRef) error {
	l.calls++
	if l.err != nil {
		return l.err
	}
	l.board.mu.Lock()
	l.board.loaded = true
	l.board.mu.Unlock()
	if l.after != nil {
		l.after()
	}
	return nil
}

func (l *loader) LoadBoards(ctx context.Context, g leaderboard.GuildRef) error { return l.Load(ctx, g) }

func (*loader) Past(context.Context, leaderboard.GuildRef, leaderboard.Digest) (*leaderboard.Past, error) {
	return &leaderboard.Past{}, nil
}

// archive has the members of a board as of the last snapshot, absent ones at the end.
type archive []leaderboard.Ranked

func (a *archive) snapshot(m *memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*a = slices.Clone(m.ranked())
	for user := range m.absent {
		*a = append(*a, leaderboard.Ranked{Member: m.members[user]})
	}
}

// FindNames implements leaderboard.Names. Each matching word of a name counts as a word read.
func (a *archive) FindNames(_ context.Context, _ leaderboard.GuildRef, q leaderboard.Query, limits leaderboard.NameLimits) (c leaderboard.Candidates, err error) {
	words := 0
	for _, m := range *a {
		if !q.Matches(m.User) {
			continue
		}
		if words++; limits.Words > 0 && words > limits.Words {
			return leaderboard.Candidates{Many: true}, nil
		}
		if len(c.Users) < limits.Users {
			c.Users = append(c.Users, m.UserID)
		}
	}
	return c, nil
}
