package sqlite

import (
	"context"
	"database/sql"

	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

func writeRecords(ctx context.Context, tx *sql.Tx, b snapshot.Batch) error {
	for _, r := range sqlarchive.RecordsOf([]snapshot.Batch{b}) {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO requests (incarnation, name, request, made_ms, outcome, users, epoch, rev) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`+
			sqlarchive.ReplaceRecord, r.Incarnation, r.Name, r.Request, r.Made, r.Outcome, r.Users, r.Epoch, r.Rev)
		if err != nil {
			return err
		}
	}
	guilds, records := sqlarchive.AuditOf([]snapshot.Batch{b})
	for i, r := range records {
		_, err := tx.ExecContext(ctx, sqlarchive.InsertAudit+`
			SELECT `+sqlarchive.LogOfGuild+`, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 FROM guilds WHERE id = $1`+sqlarchive.KeepAudit,
			append([]any{string(guilds[i])}, sqlarchive.AuditValues(r)...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// keepRecords notes that what records of earlier batches did, up to the rev of this one, is archived.
func keepRecords(ctx context.Context, tx *sql.Tx, b snapshot.Batch) error {
	if b.Doubtful {
		return nil
	}
	_, err := tx.ExecContext(ctx, `UPDATE requests SET epoch = NULL, rev = NULL WHERE incarnation + 0 = ? AND rev <= ?`, int64(b.Guild.Incarnation), b.Rev)
	return err
}

// closeRecords notes what those requests lost that are not known to be archived, except for those up to the rev that was kept.
func closeRecords(ctx context.Context, tx *sql.Tx, g leaderboard.GuildRef, kept int64) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE requests AS q SET epoch = NULL, rev = NULL, lost = coalesce((
			SELECT group_concat(u.value, ' ') FROM json_each('["' || replace(q.users, ' ', '","') || '"]') AS u
			WHERE u.value <> '' AND NOT EXISTS (
				SELECT 1 FROM members m
				WHERE m.incarnation = q.incarnation AND m.user_id = u.value AND (m.epoch, m.rev) >= (q.epoch, q.rev))), '')
		WHERE q.incarnation + 0 = ? AND q.rev > ?`, int64(g.Incarnation), kept)
	return err
}
