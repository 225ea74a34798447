package sqlarchive

import (
	"context"
	"strconv"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// scanCheckpoint reads a checkpoint. Its members have an incarnation of no guild, which is its id.
func scanCheckpoint(row Row) (c checkpoints.Checkpoint, err error) {
	var incarnation int64
	err = row.Scan(&incarnation, &c.Name, millis{&c.CreatedAt}, &c.Members, &c.Automatic)
	c.ID = strconv.FormatInt(incarnation, 10)
	return c, err
}

// Checkpoints implements checkpoints.Archive.
func (c *Catalog) Checkpoints(ctx context.Context, g id.Guild) ([]checkpoints.Checkpoint, error) {
	return list(ctx, c, "list_checkpoints", scanCheckpoint,
		`SELECT incarnation, name, created_ms, members, automatic FROM checkpoints WHERE guild_id = $1 ORDER BY created_ms DESC`, string(g))
}

// CreateCheckpoint implements checkpoints.Archive.
func (c *Catalog) CreateCheckpoint(ctx context.Context, g leaderboard.GuildRef, name string, automatic bool) (made checkpoints.Checkpoint, err error) {
	err = c.inSlow(ctx, "create_checkpoint", func(t *tx) {
		to := guild.NewIncarnation()
		made = checkpoints.Checkpoint{Name: name, Automatic: automatic, Members: t.copyMembers(to, int64(g.Incarnation))}
		if t.noteCheckpoint(g, &made, to); !automatic {
			t.audited(g.ID, audit.Entry{Action: audit.Checkpoint, Count: &made.Members}, nil, nil)
		}
	})
	return made, err
}

// noteCheckpoint makes a checkpoint of members that were copied to an incarnation. It locks the guild's row, so that no two make one too many.
func (t *tx) noteCheckpoint(g leaderboard.GuildRef, made *checkpoints.Checkpoint, to guild.Incarnation) {
	now := t.locksIncarnation(g)
	// Later than all others, though two are made in one millisecond.
	latest, _ := readValue[int64](t, `SELECT coalesce(max(created_ms), 0) FROM checkpoints WHERE guild_id = $1`, string(g.ID))
	now = max(now, latest+1)
	if made.Automatic {
		t.dropCheckpoints(`
			SELECT incarnation FROM checkpoints WHERE guild_id = $1 AND automatic ORDER BY created_ms DESC LIMIT 1000 OFFSET $2`, string(g.ID), checkpoints.MaxAutomatic-1)
	} else {
		t.require(checkpoints.ErrTooMany, `SELECT count(*) < $2 FROM checkpoints WHERE guild_id = $1 AND NOT automatic`, string(g.ID), checkpoints.MaxManual)
	}
	made.ID, made.CreatedAt = strconv.FormatInt(int64(to), 10), time.UnixMilli(now).UTC()
	t.exec(`INSERT INTO checkpoints (incarnation, guild_id, name, created_ms, members, automatic) VALUES ($1, $2, $3, $4, $5, $6)`,
		int64(to), string(g.ID), made.Name, now, made.Members, made.Automatic)
}

// locksIncarnation locks the guild's row and returns the archive's time. It fails with snapshot.ErrStale for an incarnation that no longer exists.
func (t *tx) locksIncarnation(g leaderboard.GuildRef) (nowMS int64) {
	nowMS, exists := readValue[int64](t, `SELECT now_ms() FROM guilds WHERE id = $1 AND incarnation = $2 FOR UPDATE`, string(g.ID), int64(g.Incarnation))
	if !exists {
		t.fail(snapshot.ErrStale)
	}
	return nowMS
}

// copyMembers copies the members of an incarnation, without their cooldowns, so that any batch replaces them, and the list of files imported into
// them. It returns the number of members.
func (t *tx) copyMembers(to guild.Incarnation, from int64) int64 {
	t.sharesErasures()
	// Before the members, which then hold every finished import. They may hold a part of an unfinished one, which no plan continues.
	t.exec(`
		INSERT INTO imports (incarnation, files, name, checkpoint, plan, started_ms, finished)
		SELECT CAST($1 AS bigint), files, name, checkpoint, CASE WHEN finished THEN plan ELSE 'restored' END, started_ms, finished
		FROM imports WHERE incarnation = $2`, int64(to), from)
	return t.exec(`
		INSERT INTO members (incarnation, epoch, rev, written_ms, user_id, xp, message_count, updated_ms, cooldown_ms,
			avatar, discriminator, username, global_name, accent_colour, deleted, present, words)
		SELECT CAST($1 AS bigint), 0, 0, now_ms(), user_id, xp, message_count, updated_ms, NULL,
			avatar, discriminator, username, global_name, accent_colour, deleted, present, words
		FROM members WHERE incarnation = $2 AND NOT deleted`, int64(to), from)
}

// dropCheckpoints deletes the checkpoints that the query lists, and leaves their copies to Purge.
func (t *tx) dropCheckpoints(query string, args ...any) {
	for _, incarnation := range readAll(t, scanValue[int64], query, args...) {
		t.exec(`INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) SELECT incarnation, guild_id, now_ms() FROM checkpoints WHERE incarnation = $1`, incarnation)
		t.exec(`DELETE FROM checkpoints WHERE incarnation = $1`, incarnation)
	}
}

// DeleteCheckpoint implements checkpoints.Archive.
func (c *Catalog) DeleteCheckpoint(ctx context.Context, g id.Guild, checkpoint string) error {
	return c.inSlow(ctx, "delete_checkpoint", func(t *tx) {
		t.dropCheckpoints(`SELECT incarnation FROM checkpoints WHERE incarnation = $1`, t.checkpointOf(g, checkpoint))
	})
}

// checkpointOf locks a checkpoint's row and returns where its members are. It fails with checkpoints.ErrUnknown.
func (t *tx) checkpointOf(g id.Guild, checkpoint string) (incarnation int64) {
	incarnation, err := strconv.ParseInt(checkpoint, 10, 64)
	incarnation, exists := readValue[int64](t, `SELECT incarnation FROM checkpoints WHERE incarnation = $1 AND guild_id = $2 FOR UPDATE`, incarnation, string(g))
	if err != nil || !exists || strconv.FormatInt(incarnation, 10) != checkpoint {
		t.fail(checkpoints.ErrUnknown)
	}
	return incarnation
}

// Replace implements checkpoints.Archive. It copies first, which may take seconds, and then locks the change counter, for which every change of a key
// or of settings waits, and the guild's row. The row then shows whether anything came between.
func (c *Catalog) Replace(ctx context.Context, r checkpoints.Replacement) (done checkpoints.Replaced, err error) {
	err = c.inSlow(ctx, "replace_members", func(t *tx) {
		done = checkpoints.Replaced{Incarnation: guild.NewIncarnation()}
		if r.From != "" {
			done.Members = t.copyMembers(done.Incarnation, t.checkpointOf(r.Guild.ID, r.From))
			if !t.SQLite { // whose index has no words
				t.exec(`
					INSERT INTO member_words
					SELECT incarnation, word, user_id FROM members, unnest(string_to_array(words, ' ')) AS word
					WHERE incarnation = $1 ON CONFLICT DO NOTHING`, int64(done.Incarnation))
			}
		}
		before := guild.NewIncarnation()
		done.Before = checkpoints.Checkpoint{Name: r.Name, Automatic: true, Members: t.copyMembers(before, int64(r.Guild.Incarnation))}
		t.counted(func() { t.replace(r, before, &done) })
	})
	return done, err
}

func (t *tx) replace(r checkpoints.Replacement, before guild.Incarnation, done *checkpoints.Replaced) {
	t.noteCheckpoint(r.Guild, &done.Before, before)
	t.require(snapshot.ErrStale, `SELECT epoch = $2 AND archived = $3 FROM guilds WHERE id = $1`, string(r.Guild.ID), r.State.Epoch, r.State.Archived)
	t.require(checkpoints.ErrPeriodCloses, `SELECT closes_ms IS NULL OR closes_ms > now_ms() FROM guilds WHERE id = $1`, string(r.Guild.ID))
	t.log(changes.Guild, string(r.Guild.ID))
	to, from := int64(done.Incarnation), int64(r.Guild.Incarnation)
	// A guild of epoch 0 was never loaded, so no record of a request could be missing in Redis; here some are.
	t.exec(`UPDATE guilds SET incarnation = $2, audit_log = coalesce(audit_log, incarnation), epoch = 1, archived = 0, verified = 0, reset = $3,
		gains_from = NULL WHERE id = $1`, string(r.Guild.ID), to, string(r.Why))
	t.exec(`UPDATE periods SET incarnation = $1 WHERE incarnation = $2`, to, from)
	t.exec(`UPDATE requests SET incarnation = $1, epoch = NULL, rev = NULL, lost = '' WHERE incarnation = $2`, to, from)
	t.exec(`INSERT INTO deleted_guilds (incarnation, guild_id, deleted_ms) VALUES ($1, $2, now_ms())`, from, string(r.Guild.ID))
	e := audit.Entry{Action: audit.Restored, Count: &done.Members}
	if r.From == "" {
		e = audit.Entry{Action: audit.Reset, Count: &done.Before.Members}
	}
	t.audited(r.Guild.ID, e, nil, nil)
}

// Import implements checkpoints.Archive.
func (c *Catalog) Import(ctx context.Context, g leaderboard.GuildRef, files string) (*checkpoints.NotedImport, error) {
	return one(ctx, c, "read_import", orMissing(nil, scanImport), `
		SELECT name, checkpoint, plan, started_ms, now_ms() - started_ms, finished FROM imports WHERE incarnation = $1 AND files = $2`,
		int64(g.Incarnation), files)
}

func scanImport(row Row) (*checkpoints.NotedImport, error) {
	var i checkpoints.NotedImport
	var age int64
	err := row.Scan(&i.ID, &i.Checkpoint, &i.Plan, millis{&i.Started}, &age, &i.Finished)
	if err != nil {
		return nil, err
	}
	i.Age = time.Duration(age) * time.Millisecond
	return &i, nil
}

// StartImport implements checkpoints.Archive.
func (c *Catalog) StartImport(ctx context.Context, g leaderboard.GuildRef, files string, i checkpoints.NotedImport, replaces string) error {
	return c.inSlow(ctx, "start_import", func(t *tx) {
		now := t.locksIncarnation(g)
		t.exec(`DELETE FROM imports WHERE incarnation = $1 AND files = $2 AND name = $3`, int64(g.Incarnation), files, replaces)
		t.exec(`INSERT INTO imports (incarnation, files, name, checkpoint, plan, started_ms, finished) VALUES ($1, $2, $3, $4, $5, $6, false)`,
			int64(g.Incarnation), files, i.ID, i.Checkpoint, i.Plan, now)
	})
}

// FinishImport implements checkpoints.Archive.
func (c *Catalog) FinishImport(ctx context.Context, g leaderboard.GuildRef, importID string, members int64) error {
	return c.inSlow(ctx, "finish_import", func(t *tx) {
		t.exec(`UPDATE imports SET finished = true WHERE incarnation = $1 AND name = $2`, int64(g.Incarnation), importID)
		if t.exec(`UPDATE guilds SET reset = $3 WHERE id = $1 AND incarnation = $2`, string(g.ID), int64(g.Incarnation), string(events.Imported)) == 0 {
			t.fail(snapshot.ErrStale)
		}
		t.audited(g.ID, audit.Entry{Action: audit.Imported, Count: &members}, nil, nil)
	})
}
