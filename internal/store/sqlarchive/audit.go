package sqlarchive

import (
	"context"
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
func (t *tx) writeAudit(batches []snapshot.Batch) {
	var all [][]any
	for i := range batches {
		for j := range batches[i].Records {
			if r := batches[i].Records[j].Audit; r != nil {
				all = append(all, auditValues(batches[i].Guild.ID, r))
			}
		}
	}
	if len(all) == 0 {
		return
	}
	t.exec(`
		INSERT INTO audit (log, at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, members, reason, request_id)
		SELECT coalesce(g.audit_log, g.incarnation), CAST(value ->> 1 AS bigint), CAST(value ->> 2 AS bigint), value ->> 3, value ->> 4, value ->> 5,
			value ->> 6, value ->> 7, value ->> 8, value ->> 9, CAST(value ->> 10 AS bigint), value ->> 11, value ->> 12
		FROM jsonb_each($1) JOIN guilds AS g ON g.id = value ->> 0 WHERE true
		ON CONFLICT (log, at_ms, number) DO NOTHING`, jsonRows(all))
}

// audited records a change of the archive that is made in this transaction, if anybody makes it. Such records of a guild take turns, by its row,
// and each is later than the one before.
func (t *tx) audited(g id.Guild, e audit.Entry, before, after jsontext.Value) {
	if e.By.Actor.Kind == "" {
		by := audit.Of(t.ctx)
		if by == nil {
			return
		}
		e.By = *by
	}
	r := audit.Record{Entry: e, ID: audit.ID{Number: audit.ArchiveNumber}, Before: before, After: after}
	log, exists := readRow(t, func(row Row) (log int64, err error) {
		err = row.Scan(&log, &r.ID.Millis)
		return log, err
	}, `
		UPDATE guilds SET audited_ms = CASE WHEN audited_ms < now_ms() THEN now_ms() ELSE audited_ms + 1 END
		WHERE id = $1 RETURNING coalesce(audit_log, incarnation), audited_ms`, string(g))
	if !exists {
		t.fail(guild.ErrNotFound)
	}
	t.exec(`
		INSERT INTO audit (log, at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, members, reason, request_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, auditValues(log, &r)...)
}

// auditedChanges records the differences in a guild's settings and directory, if there are any.
func (t *tx) auditedChanges(action audit.Action, before *guild.Described, after guild.Described) {
	was, is, err := guild.Changes(before, after)
	if t.fail(err); is != nil {
		t.audited(after.ID, audit.Entry{Action: action}, was, is)
	}
}

// auditedGrants records that a key got or lost grants.
func (t *tx) auditedGrants(action audit.Action, keyID string, guilds []id.Guild) {
	owner, _ := readValue[id.User](t, `SELECT owner_id FROM api_keys WHERE id = $1`, keyID)
	for _, g := range slices.Sorted(slices.Values(guilds)) { // as everybody locks guilds
		t.audited(g, audit.Entry{Action: action, UserID: owner}, nil, nil)
	}
}

// ReadAudit implements audit.Archive. While it holds the guild's row, no batch is written, and nothing is recorded by the archive.
func (c *Catalog) ReadAudit(ctx context.Context, g id.Guild, q audit.Query, waiting func(of guild.Incarnation, last time.Time) (time.Time, error)) (found []audit.Record, err error) {
	type log struct{ of, number, last int64 }
	err = c.inTx(ctx, "read_audit", func(t *tx) {
		l, exists := readRow(t, columns(func(l *log) []any { return []any{&l.of, &l.number, &l.last} }), `
			SELECT incarnation, coalesce(audit_log, incarnation), audited_ms FROM guilds WHERE id = $1 FOR UPDATE`, string(g))
		if !exists {
			t.fail(guild.ErrNotFound)
			return
		}
		found = t.archivedAudit(l.number, q)
		newest, err := waiting(guild.Incarnation(l.of), time.UnixMilli(l.last))
		t.fail(err)
		if len(found) > 0 && found[0].At().After(newest) {
			newest = found[0].At()
		}
		if now, ok := readValue[int64](t, `SELECT now_ms()`); ok {
			audit.Pass(t.ctx, time.UnixMilli(now), newest)
		}
	})
	return found, err
}

// archivedAudit reads the archived part of a log, by the index with the order of the query: log + 0 and log - 0 are columns of two of them.
func (t *tx) archivedAudit(log int64, q audit.Query) []audit.Record {
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
	return readAll(t, scanAudit, query, args...)
}

// ceilMillis is the first millisecond that is not before t.
func ceilMillis(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
