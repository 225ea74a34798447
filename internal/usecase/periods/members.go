package periods

import (
	"context"
	"errors"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// notOnBoard is the fault's message for a member who is not on a period's board.
const notOnBoard = "This user is not on the board of the period: it has the members who gained more in it than they lost, and of old periods the first 100 only."

// Position reads where a member stands, on the boards of all running periods too. A NotFound fault for a user without an entry.
func (b *Boards) Position(ctx context.Context, g *guild.Guild, user id.User) (leaderboard.Position, error) {
	running, err := b.open(ctx, g)
	if err != nil {
		return leaderboard.Position{}, err
	}
	return b.running.Position(ctx, g, user, running)
}

// Around reads at most limit members (1 to leaderboard.MaxAround) of a board around one member: of the named period as in Find, or of all time for
// "". settings are the guild's, for a closed period as of its closing. A NotFound fault for a user who is not on the board.
func (b *Boards) Around(ctx context.Context, g *guild.Guild, user id.User, name string, limit int64) (found leaderboard.Around, settings *guild.Settings, err error) {
	w, closed := leaderboard.Window{Limit: limit}, (*Closed)(nil)
	if name != "" {
		var p period.Period
		if p, closed, err = b.Find(ctx, g, name); err != nil {
			return found, nil, err
		}
		w.Period = &p
	}
	if closed != nil {
		found, err = b.aroundClosed(ctx, g, user, closed, int(limit))
		return found, &closed.Settings, err
	}
	found, err = b.running.Around(ctx, g, user, w)
	if name != "" && errors.Is(err, leaderboard.ErrNoMember) && !errors.Is(err, leaderboard.ErrNotPresent) {
		err = fault.Wrap(err, fault.NotFound, notOnBoard)
	}
	return found, &g.Settings, err
}

func (b *Boards) aroundClosed(ctx context.Context, g *guild.Guild, user id.User, closed *Closed, limit int) (found leaderboard.Around, err error) {
	after, err := b.archive.StandingsBefore(ctx, leaderboard.Ref(g), closed.ID, user, limit)
	if errors.Is(err, leaderboard.ErrNoMember) {
		return found, fault.Wrap(err, fault.NotFound, notOnBoard)
	}
	if err == nil {
		found.Of = closed.Members
		found.Rows, err = b.archive.Standings(ctx, leaderboard.Ref(g), closed.ID, after, limit)
	}
	if err != nil {
		return found, fault.Down("read a period", err)
	}
	return found, nil
}
