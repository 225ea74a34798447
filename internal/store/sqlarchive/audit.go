package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/snapshot"
)

// auditValues are the values of a record's columns, from at_ms to request_id, after a first one.
func auditValues(first any, r *audit.Record) []any {
	by := r.By
	return []any{
		first, r.ID.Millis, r.ID.Number, string(by.Actor.Kind), by.Actor.ID, by.Actor.Name, string(r.Action), string(r.UserID),
		string(r.Before), string(r.After), r.Count, by.Reason, by.RequestID,
	}
}

func scanAudit(row Row) (r audit.Record, err error) {
	var before, after []byte
	by := &r.By
	err = row.Scan(&r.ID.Millis, &r.ID.Number, &by.Actor.Kind, &by.Actor.ID, &by.Actor.Name, &r.Action, &r.UserID, &before, &after, &r.Count, &by.Reason, &by.RequestID)
	if len(before) > 0 {
		r.Before = jsontext.Value(before)
	}
	if len(after) > 0 {
		r.After = jsontext.Value(after)
	}
	return r, err
}

// writeAudit writes the records of the audit log that batches have. A record that is there is the same one.
func (c *Catalog) writeAudit(ctx context.Context, tx *sql.Tx, batches []snapshot.Batch) error {
	var all [][]any
	for i := range batches {
		for j := range batches[i].Records {
			if r := batches[i].Records[j].Audit; r != nil {
				all = append(all, auditValues(batches[i].Guild.ID, r))
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO audit (log, at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, members, reason, request_id)
		SELECT coalesce(g.audit_log, g.incarnation), CAST(value ->> 1 AS bigint), CAST(value ->> 2 AS bigint), value ->> 3, value ->> 4, value ->> 5,
			value ->> 6, value ->> 7, value ->> 8, value ->> 9, CAST(value ->> 10 AS bigint), value ->> 11, value ->> 12
		FROM jsonb_each($1) JOIN guilds AS g ON g.id = value ->> 0 WHERE true
		ON CONFLICT (log, at_ms, number) DO NOTHING`, jsonRows(all))
	return c.Refusal(err)
}

// audited records a change of the archive that is made in this transaction, if anybody makes it. Such records of a guild take turns, by its row,
// and each is later than the one before.
func (c *change) audited(ctx context.Context, g id.Guild, e audit.Entry, before, after jsontext.Value) error {
	if e.By.Actor.Kind == "" {
		by := audit.Of(ctx)
		if by == nil {
			return nil
		}
		e.By = *by
	}
	r := audit.Record{Entry: e, ID: audit.ID{Number: audit.ArchiveNumber}, Before: before, After: after}
	var log int64
	err := c.QueryRowContext(ctx, `
		UPDATE guilds SET audited_ms = CASE WHEN audited_ms < now_ms() THEN now_ms() ELSE audited_ms + 1 END
		WHERE id = $1 RETURNING coalesce(audit_log, incarnation), audited_ms`, string(g)).Scan(&log, &r.ID.Millis)
	if err == nil {
		_, err = c.ExecContext(ctx, `
			INSERT INTO audit (log, at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, members, reason, request_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, auditValues(log, &r)...)
	}
	if err != nil {
		return fmt.Errorf("record a change of guild %s: %w", g, err)
	}
	return nil
}

// auditedChanges records the differences in a guild's settings and directory, if there are any.
func (c *change) auditedChanges(ctx context.Context, action audit.Action, before *guild.Described, after guild.Described) error {
	was, is, err := guild.Changes(before, after)
	if err != nil || is == nil {
		return err
	}
	return c.audited(ctx, after.ID, audit.Entry{Action: action}, was, is)
}

// auditedGrants records that a key got or lost grants.
func (c *change) auditedGrants(ctx context.Context, action audit.Action, keyID string, guilds []id.Guild) error {
	if len(guilds) == 0 {
		return nil
	}
	owner, err := scanValue[id.User](c.QueryRowContext(ctx, `SELECT owner_id FROM api_keys WHERE id = $1`, keyID))
	for _, g := range slices.Sorted(slices.Values(guilds)) { // as everybody locks guilds
		if err == nil {
			err = c.audited(ctx, g, audit.Entry{Action: action, UserID: owner}, nil, nil)
		}
	}
	return err
}

// ReadAudit implements audit.Archive. While it holds the guild's row, no batch is written, and nothing is recorded by the archive.
func (c *Catalog) ReadAudit(ctx context.Context, g id.Guild, q audit.Query, waiting func(of guild.Incarnation, last time.Time) (time.Time, error)) (found []audit.Record, err error) {
	ctx, cancel := c.Bound(ctx, "read_audit")
	defer cancel()
	err = InTx(ctx, c.Writer, func(tx *sql.Tx) error {
		var of, log, last int64
		err := tx.QueryRowContext(ctx, c.sql(`
			SELECT incarnation, coalesce(audit_log, incarnation), audited_ms FROM guilds WHERE id = $1 FOR UPDATE`), string(g)).Scan(&of, &log, &last)
		if errors.Is(err, sql.ErrNoRows) {
			return guild.ErrNotFound
		}
		if err != nil {
			return err
		}
		if found, err = c.archivedAudit(ctx, tx, log, q); err != nil {
			return err
		}
		newest, err := waiting(guild.Incarnation(of), time.UnixMilli(last))
		if err != nil {
			return err
		}
		if len(found) > 0 && found[0].At().After(newest) {
			newest = found[0].At()
		}
		now, err := scanValue[int64](tx.QueryRowContext(ctx, `SELECT now_ms()`))
		audit.Pass(ctx, time.UnixMilli(now), newest)
		return err
	})
	return found, Wrap(c.Name, "read_audit", err)
}

// archivedAudit reads the archived part of a log, by the index with the order of the query: log + 0 and log - 0 are columns of two of them.
func (c *Catalog) archivedAudit(ctx context.Context, tx *sql.Tx, log int64, q audit.Query) ([]audit.Record, error) {
	query := `
		SELECT at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, members, reason, request_id FROM audit
		WHERE log = $1 AND ($7 = '' OR action = $7)
			AND (CAST($3 AS bigint) IS NULL OR (at_ms, number) < ($3, $4)) AND (CAST($5 AS bigint) IS NULL OR at_ms >= $5) AND (CAST($6 AS bigint) IS NULL OR at_ms < $6)
		ORDER BY at_ms DESC, number DESC LIMIT $2`
	args := []any{log, q.Limit + 1, nil, nil, nil, nil, string(q.Action)}
	if q.Before != (audit.ID{}) {
		args[2], args[3] = q.Before.Millis, q.Before.Number
	}
	if !q.Since.IsZero() {
		args[4] = ceilMillis(q.Since)
	}
	if !q.Until.IsZero() {
		args[5] = ceilMillis(q.Until)
	}
	switch {
	case q.User != "":
		query = `
		SELECT at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, members, reason, request_id FROM audit
		WHERE user_id <> '' AND user_id = $8 AND log + 0 = $1 AND ($9 = '' OR actor_id = $9) AND ($7 = '' OR action = $7)
			AND (CAST($3 AS bigint) IS NULL OR (at_ms, number) < ($3, $4)) AND (CAST($5 AS bigint) IS NULL OR at_ms >= $5) AND (CAST($6 AS bigint) IS NULL OR at_ms < $6)
		ORDER BY at_ms DESC, number DESC LIMIT $2`
		args = append(args, string(q.User), q.Actor)
	case q.Actor != "":
		query = `
		SELECT at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, members, reason, request_id FROM audit
		WHERE actor_id = $8 AND log - 0 = $1 AND ($7 = '' OR action = $7)
			AND (CAST($3 AS bigint) IS NULL OR (at_ms, number) < ($3, $4)) AND (CAST($5 AS bigint) IS NULL OR at_ms >= $5) AND (CAST($6 AS bigint) IS NULL OR at_ms < $6)
		ORDER BY at_ms DESC, number DESC LIMIT $2`
		args = append(args, q.Actor)
	}
	rows, err := tx.QueryContext(ctx, query, args...)
	return Collect(rows, err, scanAudit)
}

// ceilMillis is the first millisecond that is not before t.
func ceilMillis(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
