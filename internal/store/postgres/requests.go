package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// writeRecords writes the records of batches in one statement, and those of the audit log in another.
func writeRecords(ctx context.Context, tx pgx.Tx, batches []snapshot.Batch) error {
	if err := writeAudit(ctx, tx, batches); err != nil {
		return err
	}
	records := sqlarchive.RecordsOf(batches)
	if len(records) == 0 {
		return nil
	}
	n := len(records)
	incarnations, made := make([]int64, n), make([]int64, n)
	names, requests := make([][]byte, n), make([][]byte, n)
	outcomes, users := make([]string, n), make([]string, n)
	epochs, revs := make([]*int64, n), make([]*int64, n)
	for i, r := range records {
		incarnations[i], names[i], requests[i], made[i] = r.Incarnation, r.Name, r.Request, r.Made
		outcomes[i], users[i], epochs[i], revs[i] = r.Outcome, r.Users, r.Epoch, r.Rev
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO requests (incarnation, name, request, made_ms, outcome, users, epoch, rev)
		SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[])`+
		sqlarchive.ReplaceRecord, incarnations, names, requests, made, outcomes, users, epochs, revs)
	return err
}

func writeAudit(ctx context.Context, tx pgx.Tx, batches []snapshot.Batch) error {
	guilds, records := sqlarchive.AuditOf(batches)
	if len(records) == 0 {
		return nil
	}
	n := len(records)
	ids := make([]string, n)
	times, numbers, members := make([]int64, n), make([]int64, n), make([]*int64, n)
	var texts [9][]string
	for i, r := range records {
		ids[i], times[i], numbers[i], members[i] = string(guilds[i]), r.ID.Millis, r.ID.Number, r.Count
		by := r.By
		for j, text := range []string{
			string(by.Actor.Kind), by.Actor.ID, by.Actor.Name, string(r.Action), string(r.UserID), string(r.Before), string(r.After), by.Reason, by.RequestID,
		} {
			texts[j] = append(texts[j], text)
		}
	}
	_, err := tx.Exec(ctx, sqlarchive.InsertAudit+`
		SELECT `+sqlarchive.LogOfGuild+`, r.at_ms, r.number, r.kind, r.actor, r.name, r.action, r.user_id, r.before, r.after, r.members, r.reason, r.request
		FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
			$11::bigint[], $12::text[], $13::text[])
			AS r (guild, at_ms, number, kind, actor, name, action, user_id, before, after, members, reason, request)
		JOIN guilds ON guilds.id = r.guild`+sqlarchive.KeepAudit,
		ids, times, numbers, texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], texts[6], members, texts[7], texts[8])
	return refusal(err)
}

// keepRecords notes that what records of earlier batches did, up to the revs of these, is archived.
func keepRecords(ctx context.Context, tx pgx.Tx, batches []snapshot.Batch) error {
	var incarnations, revs []int64
	for _, b := range batches {
		if !b.Doubtful {
			incarnations, revs = append(incarnations, int64(b.Guild.Incarnation)), append(revs, b.Rev)
		}
	}
	return closeOpen(ctx, tx, `
		WITH open AS (
			SELECT q.place FROM unnest($1::bigint[], $2::bigint[]) AS b (incarnation, rev)
			CROSS JOIN LATERAL (
				SELECT ctid AS place FROM requests WHERE requests.incarnation + 0 = b.incarnation AND requests.rev <= b.rev OFFSET 0) q),
		closed AS (UPDATE requests SET epoch = NULL, rev = NULL WHERE ctid = ANY (ARRAY(SELECT place FROM open)) RETURNING 1)
		SELECT (SELECT count(*) FROM open), (SELECT count(*) FROM closed)`, 0, incarnations, revs)
}

// closeOpen repeats a statement that closes open records, at most step of them, until none is left; 0 is no limit. It returns how many it found and how
// many it closed: it passes over a record that another transaction, such as an erasure, changes at the same time.
func closeOpen(ctx context.Context, db querier, statement string, step int64, args ...any) error {
	for {
		var found, closed int64
		err := db.QueryRow(ctx, statement, args...).Scan(&found, &closed)
		if err != nil || found == closed && (step == 0 || found < step) {
			return err
		}
	}
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// closeStep is how many records one statement of closeRecords is about: with a thousand users each they take less than a second on a busy server.
// Each statement stays done when a later one is cut off.
const closeStep = 50

// closeRecords notes what those requests lost that are not known to be archived, but for those up to the rev that was kept. It may
// come late, when the guild is in use again, so it leaves later epochs alone.
func (a *Archive) closeRecords(ctx context.Context, g leaderboard.GuildRef, epoch, kept int64) error {
	return closeOpen(named(ctx, "close_requests"), a.pool, `
		WITH open AS (SELECT ctid AS place FROM requests WHERE incarnation + 0 = $1 AND rev > $2 AND epoch <= $3 ORDER BY rev LIMIT $4),
		closed AS (
			UPDATE requests q SET epoch = NULL, rev = NULL, lost = coalesce((
				SELECT string_agg(u.id, ' ' ORDER BY n) FROM unnest(string_to_array(q.users, ' ')) WITH ORDINALITY AS u (id, n)
				WHERE u.id <> '' AND NOT EXISTS (
					SELECT FROM members m
					WHERE m.incarnation = q.incarnation AND m.user_id = u.id AND (m.epoch, m.rev) >= (q.epoch, q.rev) OFFSET 0)), '')
			WHERE ctid = ANY (ARRAY(SELECT place FROM open)) RETURNING 1)
		SELECT (SELECT count(*) FROM open), (SELECT count(*) FROM closed)`, closeStep, int64(g.Incarnation), kept, epoch, closeStep)
}
