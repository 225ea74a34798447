package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
)

// AddUse implements apikey.UseStore.
func (a *Archive) AddUse(ctx context.Context, f apikey.UseFlush) error {
	return a.inTx(ctx, "add the use of keys", func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `
			INSERT INTO key_use_flushes AS f (replica, number, at_ms) VALUES (?, ?, ?)
			ON CONFLICT (replica) DO UPDATE SET number = excluded.number, at_ms = excluded.at_ms WHERE f.number < excluded.number`,
			f.Replica, f.Number, nowMS())
		if err != nil {
			return err
		}
		if fresh, err := done.RowsAffected(); err != nil || fresh == 0 {
			return err
		}
		for _, u := range f.Uses {
			_, err := tx.ExecContext(ctx, `UPDATE api_keys SET last_used_ms = max(COALESCE(last_used_ms, ?2), ?2) WHERE id = ?1`,
				u.KeyID, u.LastUsed.UnixMilli())
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `
				INSERT INTO key_use AS w (key_id, hour, requests) SELECT id, ?2, ?3 FROM api_keys WHERE id = ?1
				ON CONFLICT (key_id, hour) DO UPDATE SET requests = w.requests + excluded.requests`, u.KeyID, f.Hour, u.Requests)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// OwnedKeys implements profile.Archive.
func (a *Archive) OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error) {
	rows, err := a.reader.QueryContext(ctx, `
		SELECT `+keyColumns+`,
		       (SELECT group_concat(granted_by, ' ' ORDER BY guild_id) FROM key_grants WHERE key_id = id), last_used_ms,
		       (SELECT COALESCE(sum(requests), 0) FROM key_use WHERE key_id = id AND hour > ?2)
		FROM api_keys WHERE owner_id = ?1 ORDER BY created_ms DESC, id LIMIT ?3`,
		string(owner), hour-apikey.HoursOfDay, limit)
	if err != nil {
		return nil, wrap("list a user's keys", err)
	}
	found, err := collect(rows, scanOwned)
	return found, wrap("list a user's keys", err)
}

func scanOwned(row scanner) (o apikey.Owned, err error) {
	var by sql.NullString
	var last sql.NullInt64
	k, err := scanKey(row, &by, &last, &o.Requests)
	if err != nil {
		return o, err
	}
	o.Key = *k
	for i, who := range strings.Fields(by.String) {
		o.Grants = append(o.Grants, apikey.Grant{GuildID: k.GuildIDs[i], By: apikey.Actor(who)})
	}
	if last.Valid {
		o.LastUsed = new(fromMillis(last))
	}
	return o, nil
}
