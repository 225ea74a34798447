package sqlarchive

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// RequestAge is how old a request is that Purge deletes.
func RequestAge(keep snapshot.Keep) time.Duration { return cmp.Or(keep.Requests, 100*365*24*time.Hour) }

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

// RecordOf is a record as the table has it. Until all that was changed up to its rev is archived, it says as of when that was.
type RecordOf struct {
	Incarnation   int64
	Name, Request []byte
	Made          int64
	Outcome       string
	// Users has a space before the first when the step was made in part before: then it is not lost as a whole when what it did to them is.
	Users      string
	Epoch, Rev *int64
}

// RecordsOf lists the records of batches, the last one of each name.
func RecordsOf(batches []snapshot.Batch) []RecordOf {
	var all []RecordOf
	type name struct {
		incarnation int64
		of          leaderboard.Digest
	}
	places := map[name]int{}
	for i := range batches {
		b := &batches[i]
		for j := range b.Records {
			r := &b.Records[j]
			if r.Name == (leaderboard.Digest{}) {
				continue
			}
			of := RecordOf{
				Incarnation: int64(b.Guild.Incarnation), Name: r.Name[:], Request: r.Request[:],
				Made: r.At.UnixMilli(), Outcome: r.Outcome, Users: spaced(r.Users),
			}
			if r.Rest {
				of.Users = " " + of.Users
			}
			if b.Doubtful || r.Rev > b.Rev {
				of.Epoch, of.Rev = &b.Epoch, &r.Rev
			}
			named := name{of.Incarnation, r.Name}
			if place, again := places[named]; again {
				all[place] = of
				continue
			}
			places[named] = len(all)
			all = append(all, of)
		}
	}
	return all
}

// ReplaceRecord is what a record does with an older one of its name. One that is read again stays as it is, unless it was lost: what it did
// may have been archived in an earlier epoch.
const ReplaceRecord = `
	ON CONFLICT (incarnation, name) DO UPDATE SET request = excluded.request, made_ms = excluded.made_ms, outcome = excluded.outcome,
		users = excluded.users, lost = '', epoch = excluded.epoch, rev = excluded.rev
	WHERE requests.lost <> '' OR (requests.request, requests.made_ms, requests.outcome, requests.users)
		<> (excluded.request, excluded.made_ms, excluded.outcome, excluded.users)`
