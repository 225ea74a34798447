package sqlarchive

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// scanCheckpoint reads a checkpoint. Its members have an incarnation of no guild, which is its id.
func scanCheckpoint(row Row) (c checkpoints.Checkpoint, err error) {
	var incarnation, created int64
	err = row.Scan(&incarnation, &c.Name, &created, &c.Members, &c.Automatic)
	c.ID, c.CreatedAt = strconv.FormatInt(incarnation, 10), time.UnixMilli(created).UTC()
	return c, err
}

// Checkpoints implements checkpoints.Archive.
func (c *Catalog) Checkpoints(ctx context.Context, g id.Guild) ([]checkpoints.Checkpoint, error) {
	return list(ctx, c, "list_checkpoints", scanCheckpoint,
		`SELECT incarnation, name, created_ms, members, automatic FROM checkpoints WHERE guild_id = $1 ORDER BY created_ms DESC`, string(g))
}

// CreateCheckpoint implements checkpoints.Archive.
func (c *Catalog) CreateCheckpoint(ctx context.Context, g leaderboard.GuildRef, name string, automatic bool) (made checkpoints.Checkpoint, err error) {
	err = c.inSlow(ctx, "create_checkpoint", func(ctx context.Context, s *change) error {
		to := guild.NewIncarnation()
		made = checkpoints.Checkpoint{Name: name, Automatic: automatic}
		made.Members, err = s.copyMembers(ctx, to, int64(g.Incarnation))
		if err == nil {
			made, err = s.noteCheckpoint(ctx, g, made, to)
		}
		if err != nil || automatic {
			return err
		}
		return s.audited(ctx, g.ID, audit.Entry{Action: audit.Checkpoint, Count: &made.Members}, nil, nil)
	})
	return made, err
}

// inSlow runs f in a transaction that is allowed SlowTime.
func (c *Catalog) inSlow(ctx context.Context, operation string, f func(ctx context.Context, s *change) error) error {
	ctx, cancel := c.BoundSlow(ctx, operation)
	defer cancel()
	return Wrap(c.Name, operation, InTx(ctx, c.Writer, func(tx *sql.Tx) error {
		if c.AllowSlow != "" {
			if _, err := tx.ExecContext(ctx, c.AllowSlow); err != nil {
				return err
			}
		}
		return f(ctx, &change{Tx: tx, Dialect: c.Dialect})
	}))
}

// noteCheckpoint makes a checkpoint of members that were copied to an incarnation. It locks the guild's row, so that no two make one too many.
func (c *change) noteCheckpoint(ctx context.Context, g leaderboard.GuildRef, made checkpoints.Checkpoint, to guild.Incarnation) (checkpoints.Checkpoint, error) {
	now, err := c.locksIncarnation(ctx, g)
	if err != nil {
		return made, err
	}
	// Later than all others, though two are made in one millisecond.
	latest, err := scanValue[int64](c.QueryRowContext(ctx, `SELECT coalesce(max(created_ms), 0) FROM checkpoints WHERE guild_id = $1`, string(g.ID)))
	if err != nil {
		return made, err
	}
	now = max(now, latest+1)
	if made.Automatic {
		err = c.dropCheckpoints(ctx, `
			SELECT incarnation FROM checkpoints WHERE guild_id = $1 AND automatic ORDER BY created_ms DESC LIMIT 1000 OFFSET $2`, string(g.ID), checkpoints.MaxAutomatic-1)
	} else {
		err = c.exists(ctx, `SELECT count(*) < $2 FROM checkpoints WHERE guild_id = $1 AND NOT automatic`, checkpoints.ErrTooMany, string(g.ID), checkpoints.MaxManual)
	}
	if err != nil {
		return made, err
	}
	made.ID, made.CreatedAt = strconv.FormatInt(int64(to), 10), time.UnixMilli(now).UTC()
	_, err = c.ExecContext(ctx, `INSERT INTO checkpoints (incarnation, guild_id, name, created_ms, members, automatic) VALUES ($1, $2, $3, $4, $5, $6)`,
		int64(to), string(g.ID), made.Name, now, made.Members, made.Automatic)
	return made, err
}

// locksIncarnation locks the guild's row and returns the archive's time. snapshot.ErrStale for an incarnation that no longer exists.
func (c *change) locksIncarnation(ctx context.Context, g leaderboard.GuildRef) (nowMS int64, err error) {
	nowMS, err = scanValue[int64](c.QueryRowContext(ctx, c.sql(`
		SELECT now_ms() FROM guilds WHERE id = $1 AND incarnation = $2 FOR UPDATE`), string(g.ID), int64(g.Incarnation)))
	if errors.Is(err, sql.ErrNoRows) {
		err = snapshot.ErrStale
	}
	return nowMS, err
}

// copyMembers copies the members of an incarnation, without their cooldowns, so that any batch replaces them, and the list of files imported into
// them. It returns the number of members.
func (c *change) copyMembers(ctx context.Context, to guild.Incarnation, from int64) (int64, error) {
	if err := c.sharesErasures(ctx, c.Tx); err != nil {
		return 0, err
	}
	// Before the members, which then hold every finished import. They may hold a part of an unfinished one, which no plan continues.
	if _, err := c.exec(ctx, `
		INSERT INTO imports (incarnation, files, name, checkpoint, plan, started_ms, finished)
		SELECT CAST($1 AS bigint), files, name, checkpoint, CASE WHEN finished THEN plan ELSE 'restored' END, started_ms, finished
		FROM imports WHERE incarnation = $2`, int64(to), from); err != nil {
		return 0, err
	}
	return c.exec(ctx, `
		INSERT INTO members (incarnation, epoch, rev, written_ms, user_id, xp, message_count, updated_ms, cooldown_ms,
			avatar, discriminator, username, global_name, accent_colour, deleted, present, words)
		SELECT CAST($1 AS bigint), 0, 0, now_ms(), user_id, xp, message_count, updated_ms, NULL,
			avatar, discriminator, username, global_name, accent_colour, deleted, present, words
		FROM members WHERE incarnation = $2 AND NOT deleted`, int64(to), from)
}

// indexWords puts the words of members who were copied from a checkpoint into Postgres' index.
func (c *change) indexWords(ctx context.Context, of guild.Incarnation) error {
	if c.SQLite {
		return nil
	}
	_, err := c.ExecContext(ctx, `
		INSERT INTO member_words
		SELECT incarnation, word, user_id FROM members, unnest(string_to_array(words, ' ')) AS word WHERE incarnation = $1 ON CONFLICT DO NOTHING`, int64(of))
	return err
}

// dropCheckpoints deletes the checkpoints that the query lists, and leaves their copies to Purge.
func (c *change) dropCheckpoints(ctx context.Context, query string, args ...any) error {
	rows, err := c.QueryContext(ctx, query, args...)
	gone, err := Collect(rows, err, scanValue[int64])
	for _, incarnation := range gone {
		if err == nil {
			_, err = c.ExecContext(ctx, `
				INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) SELECT incarnation, guild_id, now_ms() FROM checkpoints WHERE incarnation = $1`, incarnation)
		}
		if err == nil {
			_, err = c.ExecContext(ctx, `DELETE FROM checkpoints WHERE incarnation = $1`, incarnation)
		}
	}
	return err
}

// DeleteCheckpoint implements checkpoints.Archive.
func (c *Catalog) DeleteCheckpoint(ctx context.Context, g id.Guild, checkpoint string) error {
	return c.inSlow(ctx, "delete_checkpoint", func(ctx context.Context, s *change) error {
		incarnation, err := s.checkpointOf(ctx, g, checkpoint)
		if err != nil {
			return err
		}
		return s.dropCheckpoints(ctx, `SELECT incarnation FROM checkpoints WHERE incarnation = $1`, incarnation)
	})
}

// checkpointOf locks a checkpoint's row and returns where its members are.
func (c *change) checkpointOf(ctx context.Context, g id.Guild, checkpoint string) (incarnation int64, err error) {
	incarnation, err = strconv.ParseInt(checkpoint, 10, 64)
	if err != nil || strconv.FormatInt(incarnation, 10) != checkpoint {
		return 0, checkpoints.ErrUnknown
	}
	incarnation, err = scanValue[int64](c.QueryRowContext(ctx, c.sql(`
		SELECT incarnation FROM checkpoints WHERE incarnation = $1 AND guild_id = $2 FOR UPDATE`), incarnation, string(g)))
	if errors.Is(err, sql.ErrNoRows) {
		err = checkpoints.ErrUnknown
	}
	return incarnation, err
}

// Replace implements checkpoints.Archive. It copies first, which may take seconds, and then locks the change counter, for which every change of a key
// or of settings waits, and the guild's row. The row then shows whether anything came between.
func (c *Catalog) Replace(ctx context.Context, r checkpoints.Replacement) (done checkpoints.Replaced, err error) {
	err = c.inSlow(ctx, "replace_members", func(ctx context.Context, s *change) error {
		done = checkpoints.Replaced{Incarnation: guild.NewIncarnation()}
		if r.From != "" {
			from, err := s.checkpointOf(ctx, r.Guild.ID, r.From)
			if err != nil {
				return err
			}
			if done.Members, err = s.copyMembers(ctx, done.Incarnation, from); err != nil {
				return err
			}
			if err := s.indexWords(ctx, done.Incarnation); err != nil {
				return err
			}
		}
		before := guild.NewIncarnation()
		done.Before = checkpoints.Checkpoint{Name: r.Name, Automatic: true}
		var err error
		if done.Before.Members, err = s.copyMembers(ctx, before, int64(r.Guild.Incarnation)); err != nil {
			return err
		}
		return s.counted(ctx, func() error { return s.replace(ctx, r, before, &done) })
	})
	return done, err
}

func (c *change) replace(ctx context.Context, r checkpoints.Replacement, before guild.Incarnation, done *checkpoints.Replaced) (err error) {
	if done.Before, err = c.noteCheckpoint(ctx, r.Guild, done.Before, before); err != nil {
		return err
	}
	err = c.exists(ctx, `SELECT epoch = $2 AND archived = $3 FROM guilds WHERE id = $1`, snapshot.ErrStale, string(r.Guild.ID), r.State.Epoch, r.State.Archived)
	if err == nil {
		err = c.exists(ctx, `SELECT closes_ms IS NULL OR closes_ms > now_ms() FROM guilds WHERE id = $1`, checkpoints.ErrPeriodCloses, string(r.Guild.ID))
	}
	if err != nil {
		return err
	}
	if _, err := c.log(ctx, changes.Guild, string(r.Guild.ID)); err != nil {
		return err
	}
	// A guild of epoch 0 was never loaded, so no record of a request could be missing in Redis; here some are.
	to, from := int64(done.Incarnation), int64(r.Guild.Incarnation)
	for _, step := range []struct {
		statement string
		args      []any
	}{
		{`UPDATE guilds SET incarnation = $2, audit_log = coalesce(audit_log, incarnation), epoch = 1, archived = 0, verified = 0, reset = $3, gains_from = NULL WHERE id = $1`, []any{string(r.Guild.ID), to, string(r.Why)}},
		{`UPDATE periods SET incarnation = $1 WHERE incarnation = $2`, []any{to, from}},
		{`UPDATE requests SET incarnation = $1, epoch = NULL, rev = NULL, lost = '' WHERE incarnation = $2`, []any{to, from}},
		{`INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) VALUES ($1, $2, now_ms())`, []any{from, string(r.Guild.ID)}},
	} {
		if _, err := c.ExecContext(ctx, step.statement, step.args...); err != nil {
			return err
		}
	}
	if r.From == "" {
		return c.audited(ctx, r.Guild.ID, audit.Entry{Action: audit.Reset, Count: &done.Before.Members}, nil, nil)
	}
	return c.audited(ctx, r.Guild.ID, audit.Entry{Action: audit.Restored, Count: &done.Members}, nil, nil)
}
