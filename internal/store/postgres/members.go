package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// State implements snapshot.Archive. Concurrent calls share a query.
func (a *Archive) State(ctx context.Context, g leaderboard.GuildRef) (snapshot.State, error) {
	s, err := a.states.do(named(ctx, "read_state"), g)
	if err == nil && s == nil {
		err = snapshot.ErrStale
	}
	if err != nil {
		return snapshot.State{}, wrap("read a guild's state", err)
	}
	return *s, nil
}

// readStates reads the counters of guilds; nil for an incarnation that does not exist.
func (a *Archive) readStates(ctx context.Context, guilds []leaderboard.GuildRef) ([]*snapshot.State, error) {
	ids, incarnations := make([]string, len(guilds)), make([]int64, len(guilds))
	for i, g := range guilds {
		ids[i], incarnations[i] = string(g.ID), int64(g.Incarnation)
	}
	rows, err := a.pool.Query(ctx, `
		SELECT n, epoch, archived, verified
		FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS asked (id, incarnation, n) JOIN guilds USING (id, incarnation)`,
		plannedNow, ids, incarnations)
	return statesOf(rows, err, len(guilds))
}

// States implements snapshot.Archive. It is one query.
func (a *Archive) States(ctx context.Context, guilds []leaderboard.GuildRef) (map[leaderboard.GuildRef]snapshot.State, error) {
	ctx, cancel := bounded(ctx, "read_states")
	defer cancel()
	states, err := a.readStates(ctx, guilds)
	if err != nil {
		return nil, wrap("read the states of guilds", err)
	}
	found := make(map[leaderboard.GuildRef]snapshot.State, len(guilds))
	for i, s := range states {
		if s != nil {
			found[guilds[i]] = *s
		}
	}
	return found, nil
}

// raise is a guild's epoch to be raised, if its state still is from.
type raise struct {
	guild leaderboard.GuildRef
	from  snapshot.State
	kept  int64
}

// RaiseEpoch implements hydrate.Archive. Concurrent calls share one statement.
func (a *Archive) RaiseEpoch(ctx context.Context, g leaderboard.GuildRef, from snapshot.State, kept int64) (snapshot.State, error) {
	s, err := a.raises.do(named(ctx, "raise_epoch"), raise{g, from, kept})
	if err == nil && s == nil {
		return a.raiseOne(ctx, raise{g, from, kept})
	}
	if err != nil {
		return snapshot.State{}, wrap("raise a guild's epoch", err)
	}
	return *s, nil
}

// raiseOne waits for the guild's row if somebody has locked it.
func (a *Archive) raiseOne(ctx context.Context, r raise) (snapshot.State, error) {
	ctx, cancel := bounded(ctx, "raise_epoch")
	defer cancel()
	s, err := sqlarchive.ScanState(a.pool.QueryRow(ctx, `
		UPDATE guilds SET epoch = epoch + 1, verified = CASE WHEN $5 >= 0 THEN verified + 1 ELSE 0 END
		WHERE id = $1 AND incarnation = $2 AND epoch = $3 AND archived = $4
		RETURNING epoch, archived, verified`,
		string(r.guild.ID), int64(r.guild.Incarnation), r.from.Epoch, r.from.Archived, r.kept))
	if err == nil {
		err = a.closeRecords(ctx, []raise{r})
	}
	return s, wrap("raise a guild's epoch", err)
}

// raiseEpochs raises the epochs of guilds in one statement, and returns their new states; nil for a guild whose state is another
// one, and for one whose row somebody has locked: the others do not wait for that.
func (a *Archive) raiseEpochs(ctx context.Context, raises []raise) ([]*snapshot.State, error) {
	ids, incarnations := make([]string, len(raises)), make([]int64, len(raises))
	epochs, archived, kept := make([]int64, len(raises)), make([]int64, len(raises)), make([]int64, len(raises))
	for i, r := range raises {
		ids[i], incarnations[i] = string(r.guild.ID), int64(r.guild.Incarnation)
		epochs[i], archived[i], kept[i] = r.from.Epoch, r.from.Archived, r.kept
	}
	rows, err := a.pool.Query(ctx, `
		WITH fitting AS (
			SELECT g.id, n, kept
			FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY
				AS r (id, incarnation, epoch, archived, kept, n)
			JOIN guilds g ON g.id = r.id AND g.incarnation = r.incarnation AND g.epoch = r.epoch AND g.archived = r.archived
			FOR NO KEY UPDATE OF g SKIP LOCKED)
		UPDATE guilds SET epoch = epoch + 1, verified = CASE WHEN kept >= 0 THEN verified + 1 ELSE 0 END
		FROM fitting WHERE guilds.id = fitting.id
		RETURNING n, epoch, archived, verified`,
		plannedNow, ids, incarnations, epochs, archived, kept)
	states, err := statesOf(rows, err, len(raises))
	if err != nil {
		return nil, err
	}
	// Cut off before this, the guild is not in use yet, and its epoch is raised once more.
	var raised []raise
	for i, s := range states {
		if s != nil {
			raised = append(raised, raises[i])
		}
	}
	return states, a.closeRecords(ctx, raised)
}

// statesOf reads rows of a place, from 1 on, and the state of the guild in that place; nil where there is none.
func statesOf(rows pgx.Rows, err error, n int) ([]*snapshot.State, error) {
	if err != nil {
		return nil, err
	}
	states := make([]*snapshot.State, n)
	var place int64
	var s snapshot.State
	_, err = pgx.ForEachRow(rows, []any{&place, &s.Epoch, &s.Archived, &s.Verified}, func() error {
		states[place-1] = new(s)
		return nil
	})
	return states, err
}

// Members implements snapshot.Archive.
func (a *Archive) Members(ctx context.Context, g leaderboard.GuildRef, after id.User, limit int) ([]snapshot.Row, error) {
	last, err := a.LastDay(ctx, g)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bounded(ctx, "read_members")
	defer cancel()
	rows, err := a.pool.Query(ctx, `
		SELECT `+sqlarchive.MemberColumns+`, `+sqlarchive.MemberGains("$5::integer")+`
		FROM members JOIN guilds USING (incarnation)
		WHERE guilds.id = $1 AND incarnation = $2 AND user_id > $3 AND NOT deleted
		ORDER BY user_id LIMIT $4`,
		plannedNow, string(g.ID), int64(g.Incarnation), string(after), limit, int64(sqlarchive.SinceDay(last)))
	if err != nil {
		return nil, wrap("read members", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (snapshot.Row, error) { return sqlarchive.ScanMemberGains(row) })
	if err != nil {
		return nil, wrap("read members", err)
	}
	if len(found) == 0 {
		_, err = a.State(ctx, g)
	}
	return found, err
}
