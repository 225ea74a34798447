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

// auditColumns are what a record has beside its log.
const auditColumns = `at_ms, number, actor_kind, actor_id, actor_name, action, user_id, before, after, members, reason, request_id`

// AuditValues are the values of auditColumns.
func AuditValues(r *audit.Record) []any {
	by := r.By
	return []any{
		r.ID.Millis, r.ID.Number, string(by.Actor.Kind), by.Actor.ID, by.Actor.Name, string(r.Action), string(r.UserID),
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

// AuditOf lists the records of the audit log in batches, each with the guild that it is of.
func AuditOf(batches []snapshot.Batch) (guilds []id.Guild, records []*audit.Record) {
	for i := range batches {
		for j := range batches[i].Records {
			if r := batches[i].Records[j].Audit; r != nil {
				guilds, records = append(guilds, batches[i].Guild.ID), append(records, r)
			}
		}
	}
	return guilds, records
}

// InsertAudit begins the statement that archives records of a journal, and KeepAudit ends it: a record that is there is the same one.
const (
	InsertAudit = `INSERT INTO audit (log, ` + auditColumns + `)`
	KeepAudit   = ` ON CONFLICT (log, at_ms, number) DO NOTHING`
	// LogOfGuild is the log of a row of guilds.
	LogOfGuild = `coalesce(audit_log, incarnation)`
)

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
	err := c.QueryRowContext(ctx, `UPDATE guilds SET audited_ms = CASE WHEN audited_ms < `+c.Now+` THEN `+c.Now+` ELSE audited_ms + 1 END
		WHERE id = $1 RETURNING `+LogOfGuild+`, audited_ms`, string(g)).Scan(&log, &r.ID.Millis)
	if err == nil {
		_, err = c.ExecContext(ctx, InsertAudit+` VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, append([]any{log}, AuditValues(&r)...)...)
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
		err := tx.QueryRowContext(ctx, `SELECT incarnation, `+LogOfGuild+`, audited_ms FROM guilds WHERE id = $1`+c.Lock, string(g)).Scan(&of, &log, &last)
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
		now, err := scanValue[int64](tx.QueryRowContext(ctx, `SELECT `+c.Now))
		audit.Pass(ctx, time.UnixMilli(now), newest)
		return err
	})
	return found, Wrap(c.Name, "read_audit", err)
}

// archivedAudit reads the archived part of a log. Each filter has an index that has the order, too.
func (c *Catalog) archivedAudit(ctx context.Context, tx *sql.Tx, log int64, q audit.Query) ([]audit.Record, error) {
	condition, args := `log = $1`, []any{log}
	switch { // so that each has one index
	case q.User != "":
		condition = `log + 0 = $1`
	case q.Actor != "":
		condition = `log - 0 = $1`
	}
	n := 1
	filter := func(text string, values ...any) {
		places := make([]any, len(values))
		for i := range values {
			n++
			places[i] = n
		}
		condition, args = condition+fmt.Sprintf(" AND "+text, places...), append(args, values...)
	}
	if (q.Before != audit.ID{}) {
		filter(`(at_ms, number) < ($%d, $%d)`, q.Before.Millis, q.Before.Number)
	}
	if q.User != "" {
		filter(`user_id <> '' AND user_id = $%d`, string(q.User))
	}
	if q.Actor != "" {
		filter(`actor_id = $%d`, q.Actor)
	}
	if !q.Since.IsZero() {
		filter(`at_ms >= $%d`, ceilMillis(q.Since))
	}
	if !q.Until.IsZero() {
		filter(`at_ms < $%d`, ceilMillis(q.Until))
	}
	rows, err := tx.QueryContext(ctx, `SELECT `+auditColumns+` FROM audit WHERE `+condition+fmt.Sprintf(` ORDER BY at_ms DESC, number DESC LIMIT %d`, q.Limit+1), args...)
	return Collect(rows, err, scanAudit)
}

// ceilMillis is the first millisecond that is not before t.
func ceilMillis(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
