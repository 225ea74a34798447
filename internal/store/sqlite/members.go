package sqlite

import (
	"context"
	"database/sql"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// stateOf reads a guild's state in a transaction.
func stateOf(ctx context.Context, tx *sql.Tx, g leaderboard.GuildRef) (snapshot.State, error) {
	return sqlarchive.ScanState(tx.QueryRowContext(ctx,
		`SELECT epoch, archived, verified FROM guilds WHERE id = ? AND incarnation = ?`, string(g.ID), int64(g.Incarnation)))
}

// RaiseEpoch implements hydrate.Archive.
func (a *Archive) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (s snapshot.State, err error) {
	err = a.inTx(ctx, "raise a guild's epoch", func(tx *sql.Tx) error {
		s, err = sqlarchive.ScanState(tx.QueryRowContext(ctx, sqlarchive.RaiseEpoch, string(g.ID), int64(g.Incarnation), from.Epoch, from.Archived, kept))
		if err != nil {
			return err
		}
		return closeRecords(ctx, tx, g, kept)
	})
	if err != nil {
		return snapshot.State{}, err
	}
	return s, nil
}

// Members implements snapshot.Archive.
func (a *Archive) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	last, err := a.LastDay(ctx, g)
	if err != nil {
		return nil, err
	}
	rows, err := a.reader.QueryContext(ctx, `
		SELECT `+sqlarchive.MemberColumns+`, `+sqlarchive.MemberGains("?5")+`
		FROM guilds CROSS JOIN members USING (incarnation)
		WHERE guilds.id = ?1 AND incarnation = ?2 AND user_id > ?3 AND NOT deleted
		ORDER BY user_id LIMIT ?4`,
		string(g.ID), int64(g.Incarnation), string(after), limit, int64(sqlarchive.SinceDay(last)))
	found, err := sqlarchive.Collect(rows, err, sqlarchive.ScanMemberGains)
	if err != nil {
		return nil, wrap("read members", err)
	}
	if len(found) == 0 {
		_, err = a.State(ctx, g)
	}
	return found, err
}
