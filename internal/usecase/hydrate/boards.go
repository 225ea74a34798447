package hydrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// freezeTime bounds how long a guild is frozen until the snapshot writer has archived its
// changes. If Postgres does not accept them, the guild stays in use without the boards.
const freezeTime = time.Minute

// LoadBoards implements leaderboard.Loader. Boards are computed from the archive's gains, so the guild
// must be loaded again: LoadBoards freezes it until all of its changes are archived, and evicts it first.
func (h *Hydrator) LoadBoards(ctx context.Context, g leaderboard.GuildRef) error {
	return h.shared(ctx, g, "boards", h.reload)
}

func (h *Hydrator) reload(ctx context.Context, g leaderboard.GuildRef) error {
	calendar, err := h.calendar(ctx, g)
	if err != nil {
		return fmt.Errorf("load the boards of guild %s: %w", g.ID, err)
	}
	has, now, err := h.live.Boards(ctx, g.ID)
	if err != nil {
		return fmt.Errorf("load the boards of guild %s: %w", g.ID, err)
	}
	if !calendar.Counts() || calendar.Boards(period.DayAt(now, calendar.Zone)).SameAs(has) {
		return leaderboard.ErrOtherPeriods
	}
	h.loading.Store(g, true)
	frozen, cancel := context.WithTimeout(ctx, freezeTime)
	defer cancel()
	err = Frozen(frozen, h.live, g, func(lock Lock, s snapshot.State) error { return h.live.EvictFrozen(frozen, lock, s) })
	if err != nil && !errors.Is(err, leaderboard.ErrNotLoaded) && !errors.Is(err, ErrLost) { // with these errors, it is being loaded already
		return fmt.Errorf("load the boards of guild %s: %w", g.ID, err)
	}
	return h.load(ctx, g)
}

// calendar reads the guild's current calendar. It returns leaderboard.ErrGuildMoved for a former incarnation.
func (h *Hydrator) calendar(ctx context.Context, g leaderboard.GuildRef) (period.Calendar, error) {
	found, err := h.archive.Guild(ctx, g.ID)
	if errors.Is(err, guild.ErrNotFound) || err == nil && found.Incarnation != g.Incarnation {
		return period.Calendar{}, leaderboard.ErrGuildMoved
	}
	if err != nil {
		return period.Calendar{}, err
	}
	return found.Calendar(), nil
}

// boardsOf returns the boards to load, which it also notes in the lock, and the last day on which a member gained XP. There may be neither.
func (h *Hydrator) boardsOf(ctx context.Context, lock *Lock) (*period.Boards, period.Day, error) {
	last, err := h.archive.LastDay(ctx, lock.Guild)
	if err != nil || last == 0 {
		return nil, 0, err
	}
	calendar, err := h.calendar(ctx, lock.Guild)
	if err != nil {
		return nil, 0, err
	}
	if !calendar.Counts() {
		lock.Boards = "-"
		return nil, last, nil
	}
	_, now, err := h.live.Boards(ctx, lock.Guild.ID)
	if err != nil {
		return nil, 0, err
	}
	boards := calendar.Boards(period.DayAt(now, calendar.Zone))
	newest := boards
	newest.Day = max(last, boards.Day)
	lock.Boards = newest.String()
	return &boards, last, nil
}

// add adds the members' gains to the sums of the boards.
func (l *Lock) add(rows []snapshot.Row) {
	for i := range rows {
		for board, gained := range rows[i].OnBoards {
			if !rows[i].Absent {
				l.Gained[board] += max(gained, 0)
			}
		}
	}
}
