package sqlarchive

import (
	"context"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/leaderboard"
)

// MemberOf implements erasure.Archive.
func (c *Catalog) MemberOf(ctx context.Context, user id.User, until time.Time) ([]leaderboard.GuildRef, error) {
	return list(ctx, c, "list_memberships", scanRef, `
		SELECT g.id, g.incarnation FROM guilds g JOIN members m ON m.incarnation = g.incarnation AND m.user_id = $1
		WHERE NOT m.deleted AND coalesce(m.updated_ms, 0) <= $2 ORDER BY g.id`, string(user), until.UnixMilli())
}

// RequestsOf implements erasure.Archive.
func (c *Catalog) RequestsOf(ctx context.Context, user id.User) ([]erasure.Request, error) {
	return list(ctx, c, "list_requests_of", func(row Row) (r erasure.Request, err error) {
		var name []byte
		err = row.Scan(&r.Guild, &name)
		copy(r.Name[:], name)
		return r, err
	}, `SELECT g.id, r.name FROM requests r JOIN guilds g ON g.incarnation = r.incarnation WHERE r.users = $1`, string(user))
}

// StoredOf implements erasure.Archive.
func (c *Catalog) StoredOf(ctx context.Context, user id.User) (found erasure.Stored, err error) {
	found.Guilds, err = list(ctx, c, "list_entries_of", columns(func(m *erasure.Membership) []any {
		return append(memberFields(&m.Row), &m.Guild.ID, &m.Guild.Incarnation)
	}), `
		SELECT user_id, xp, message_count, updated_ms, cooldown_ms, avatar, discriminator, username, global_name, accent_colour, NOT present, g.id, g.incarnation
		FROM guilds g JOIN members m ON m.incarnation = g.incarnation AND m.user_id = $1
		WHERE NOT m.deleted ORDER BY g.id`, string(user))
	if err == nil {
		found.Keys, err = list(ctx, c, "list_keys_of", columns(func(k *erasure.Key) []any { return []any{&k.ID, &k.Name} }),
			`SELECT id, name FROM api_keys WHERE owner_id = $1 ORDER BY id`, string(user))
	}
	if err == nil {
		found.Hidden, err = c.HiddenOf(ctx, user)
	}
	if err == nil {
		found.AuditRecords, err = one(ctx, c, "count_audit_of", scanValue[int64], `SELECT count(*) FROM (
			SELECT log, at_ms, number FROM audit WHERE user_id <> '' AND user_id = $1
			UNION SELECT log, at_ms, number FROM audit WHERE actor_id = $1) r`, string(user))
	}
	return found, err
}

// TracesOf implements erasure.Archive.
func (c *Catalog) TracesOf(ctx context.Context, user id.User) (bool, error) {
	return one(ctx, c, "find_traces_of", scanValue[bool], `
		SELECT EXISTS (SELECT 1 FROM standings WHERE user_id = $1) OR EXISTS (SELECT 1 FROM key_records WHERE owner_id = $1)
			OR EXISTS (SELECT 1 FROM members WHERE user_id = $1 AND incarnation IN (
				SELECT incarnation FROM checkpoints UNION ALL SELECT incarnation FROM deleted_guilds))
			OR EXISTS (SELECT 1 FROM hidden WHERE user_id = $1)
			OR EXISTS (SELECT 1 FROM requests WHERE ' ' || users || ' ' LIKE '% ' || $1 || ' %')
			OR EXISTS (SELECT 1 FROM audit WHERE (reason <> '' OR action IN ('settings', 'directory'))
				AND (before LIKE '%' || $1 || '%' OR after LIKE '%' || $1 || '%' OR reason LIKE '%' || $1 || '%'))`, string(user))
}

// EraseRows implements erasure.Archive. Its lock on the secret's row comes before all others: sharesErasures has the other side.
func (c *Catalog) EraseRows(ctx context.Context, o erasure.Open) (all bool, err error) {
	hashes, err := c.userHashes(ctx, o.User)
	if err != nil {
		return false, err
	}
	err = c.inSlow(ctx, "erase_rows", func(t *tx) {
		t.exec(`SELECT 1 FROM erasure_secret FOR UPDATE`)
		for _, statement := range []string{
			`DELETE FROM members WHERE user_id = $1 AND incarnation IN (SELECT incarnation FROM checkpoints UNION ALL SELECT incarnation FROM deleted_guilds)`,
			`DELETE FROM members WHERE user_id = $1 AND deleted AND incarnation IN (SELECT incarnation FROM guilds)`,
			`DELETE FROM gains WHERE user_id = $1
				AND incarnation IN (SELECT incarnation FROM guilds UNION ALL SELECT incarnation FROM deleted_guilds)
				AND NOT EXISTS (SELECT 1 FROM members m WHERE m.incarnation = gains.incarnation AND m.user_id = gains.user_id)`,
			`DELETE FROM standings WHERE user_id = $1`,
			`DELETE FROM hidden WHERE user_id = $1 AND flags = 0`,
			`DELETE FROM requests WHERE users = $1`,
			`UPDATE requests SET users = CASE WHEN users LIKE ' %' THEN ' ' ELSE '' END || trim(replace(' ' || users || ' ', ' ' || $1 || ' ', ' ')),
				lost = trim(replace(' ' || lost || ' ', ' ' || $1 || ' ', ' '))
				WHERE ' ' || users || ' ' LIKE '% ' || $1 || ' %'`,
		} {
			t.exec(statement, string(o.User))
		}
		t.eraseFromAudit(o.User, hashes[0])
		all, _ = readValue[bool](t, `SELECT NOT EXISTS (
			SELECT 1 FROM guilds g JOIN members m ON m.incarnation = g.incarnation AND m.user_id = $1
			WHERE NOT m.deleted AND coalesce(m.updated_ms, 0) <= $2)`, string(o.User), o.At.UnixMilli())
	})
	return all, err
}

// eraseFromAudit puts another name in place of a user and of their keys, whose history goes then.
func (t *tx) eraseFromAudit(user id.User, hash string) {
	as, _ := readValue[string](t, `SELECT 'erased-' || number FROM erasures WHERE hash = $1`, hash)
	for _, statement := range []string{
		`UPDATE audit SET user_id = $2 WHERE user_id <> '' AND user_id = $1`,
		`UPDATE audit SET actor_id = $2, actor_name = $2 WHERE actor_id = $1`,
		`UPDATE audit SET actor_id = $2, actor_name = $2 WHERE actor_kind = 'key' AND actor_id IN (SELECT key_id FROM key_records WHERE owner_id = $1)`,
	} {
		t.exec(statement, string(user), as)
	}
	t.exec(`DELETE FROM key_records WHERE owner_id = $1`, string(user))
	for after := (mention{}); t.eraseMentions(user, as, &after); {
	}
}

// sharesErasures keeps EraseRows from beginning until the transaction ends, which copies members.
func (t *tx) sharesErasures() { t.exec(`SELECT 1 FROM erasure_secret FOR KEY SHARE`) }
