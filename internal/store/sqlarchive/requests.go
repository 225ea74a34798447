package sqlarchive

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Past implements hydrate.Archive.
func (c *Catalog) Past(ctx context.Context, g leaderboard.GuildRef, name leaderboard.Digest) (*leaderboard.Past, error) {
	return one(ctx, c, "read_request", scanPast, `SELECT request, outcome, users, lost FROM requests WHERE incarnation = $1 AND name = $2`,
		int64(g.Incarnation), name[:])
}

func scanPast(row Row) (*leaderboard.Past, error) {
	var p leaderboard.Past
	var request []byte
	var users, lost string
	err := row.Scan(&request, &p.Outcome, &users, &lost)
	if errors.Is(err, sql.ErrNoRows) {
		return &p, nil
	}
	copy(p.Request[:], request)
	p.Made, p.Lost = lost != users || users == "", idsIn[id.User](lost)
	return &p, err
}

// writeRecords writes the records of batches, the last one of each name, and those of the audit log. A record that is read again stays as it is, unless it was
// lost: what it did may have been archived in an earlier epoch. Until all that was changed up to its rev is archived, it says as of when that was.
func (t *tx) writeRecords(batches []snapshot.Batch) {
	t.writeAudit(batches)
	var all [][]any
	type name struct {
		guild leaderboard.GuildRef
		of    leaderboard.Digest
	}
	places := map[name]int{}
	for i := range batches {
		b := &batches[i]
		for j := range b.Records {
			r := &b.Records[j]
			if r.Name == (leaderboard.Digest{}) {
				continue
			}
			users := spaced(r.Users)
			if r.Rest { // then losing its effects on them does not lose the step as a whole
				users = " " + users
			}
			var epoch, rev *int64
			if b.Doubtful || r.Rev > b.Rev {
				epoch, rev = &b.Epoch, &r.Rev
			}
			of := []any{b.Guild.Incarnation, hex.EncodeToString(r.Name[:]), hex.EncodeToString(r.Request[:]), r.At.UnixMilli(), r.Outcome, users, epoch, rev}
			named := name{b.Guild, r.Name}
			if place, again := places[named]; again {
				all[place] = of
				continue
			}
			places[named] = len(all)
			all = append(all, of)
		}
	}
	if len(all) == 0 {
		return
	}
	t.exec(`
		INSERT INTO requests (incarnation, name, request, made_ms, outcome, users, epoch, rev)
		SELECT CAST(value ->> 0 AS bigint), unhex(value ->> 1), unhex(value ->> 2), CAST(value ->> 3 AS bigint), value ->> 4, value ->> 5,
			CAST(value ->> 6 AS bigint), CAST(value ->> 7 AS bigint)
		FROM jsonb_each($1) WHERE true
		ON CONFLICT (incarnation, name) DO UPDATE SET request = excluded.request, made_ms = excluded.made_ms, outcome = excluded.outcome,
			users = excluded.users, lost = '', epoch = excluded.epoch, rev = excluded.rev
		WHERE requests.lost <> '' OR (requests.request, requests.made_ms, requests.outcome, requests.users)
			<> (excluded.request, excluded.made_ms, excluded.outcome, excluded.users)`, jsonRows(all))
}

// keepRecords notes that the effects of earlier records, up to the revs of these batches, are archived.
func (t *tx) keepRecords(batches []snapshot.Batch) {
	var revs [][]any
	for i := range batches {
		if b := &batches[i]; !b.Doubtful {
			revs = append(revs, []any{b.Guild.Incarnation, b.Rev})
		}
	}
	if len(revs) == 0 {
		return
	}
	type open struct{ incarnation, rev int64 }
	// Few are found: most records are archived together with their effects.
	for _, o := range readAll(t, columns(func(o *open) []any { return []any{&o.incarnation, &o.rev} }), `
		SELECT CAST(value ->> 0 AS bigint), CAST(value ->> 1 AS bigint) FROM jsonb_each($1)
		WHERE (SELECT min(rev) FROM requests WHERE incarnation + 0 = CAST(value ->> 0 AS bigint) AND rev IS NOT NULL) <= CAST(value ->> 1 AS bigint)`,
		jsonRows(revs)) {
		t.exec(`UPDATE requests SET epoch = NULL, rev = NULL WHERE incarnation + 0 = $1 AND rev <= $2`, o.incarnation, o.rev)
	}
}
