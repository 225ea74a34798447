package sqlarchive

import (
	"context"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/leaderboard"
)

// SetHidden implements hiding.Archive.
func (c *Catalog) SetHidden(ctx context.Context, gid id.Guild, s hiding.Step) (g *guild.Guild, changed int64, err error) {
	err = c.inChange(ctx, "set_hidden", func(t *tx) {
		g = t.locked(gid)
		number := t.version + 1
		args := []any{string(gid), jsonList(s.Users), int64(s.By), number}
		if s.Hidden {
			changed = t.exec(`
				INSERT INTO hidden (guild_id, user_id, flags, number)
				SELECT $1, u.value ->> 0, CAST($3 AS integer), CAST($4 AS bigint) FROM jsonb_each($2) AS u WHERE true
				ON CONFLICT (guild_id, user_id) DO UPDATE SET flags = hidden.flags | excluded.flags, number = excluded.number
				WHERE hidden.flags & excluded.flags = 0`, args...)
		} else {
			changed = t.exec(`UPDATE hidden SET flags = flags & ~CAST($3 AS integer), number = $4
				WHERE guild_id = $1 AND user_id IN (SELECT value ->> 0 FROM jsonb_each($2)) AND flags & CAST($3 AS integer) <> 0`, args...)
		}
		if changed == 0 {
			return
		}
		t.log(changes.Guild, string(gid))
		t.exec(`UPDATE guilds SET hidden = $2 WHERE id = $1`, string(gid), number)
		g.Hidden, g.Version = number, number
		e := audit.Entry{Action: audit.Hidden, Count: &changed}
		if len(s.Users) == 1 {
			e.UserID = s.Users[0]
		}
		after, err := json.Marshal(struct {
			By     string `json:"by"`
			Hidden bool   `json:"hidden"`
		}{s.By.String(), s.Hidden})
		t.fail(err)
		t.audited(gid, e, nil, after)
	})
	if err != nil {
		return nil, 0, err
	}
	return g, changed, nil
}

var scanHidden = columns(func(u *hidden.User) []any { return []any{&u.User, &u.Flags, &u.Number} })

// Hidden implements hiding.Archive.
func (c *Catalog) Hidden(ctx context.Context, g id.Guild, offset, limit int64) ([]hidden.User, error) {
	return list(ctx, c, "list_hidden", scanHidden, `SELECT user_id, flags, number FROM hidden
		WHERE guild_id = $1 AND flags <> 0 ORDER BY length(user_id), user_id LIMIT $2 OFFSET $3`, string(g), limit, offset)
}

// HiddenAmong implements checkpoints.Archive.
func (c *Catalog) HiddenAmong(ctx context.Context, g id.Guild, users []id.User) (map[id.User]hidden.Flags, error) {
	all, err := list(ctx, c, "read_hidden", scanHidden,
		`SELECT user_id, flags, number FROM hidden WHERE guild_id = $1 AND user_id IN (SELECT value ->> 0 FROM jsonb_each($2)) AND flags <> 0`, string(g), jsonList(users))
	found := make(map[id.User]hidden.Flags, len(all))
	for _, u := range all {
		found[u.User] = u.Flags
	}
	return found, err
}

// HiddenOf lists the guilds in which a user is hidden.
func (c *Catalog) HiddenOf(ctx context.Context, user id.User) ([]hiding.InGuild, error) {
	return list(ctx, c, "read_hidden_of", columns(func(in *hiding.InGuild) []any { return []any{&in.Guild, &in.Flags} }),
		`SELECT guild_id, flags FROM hidden WHERE user_id = $1 AND flags <> 0 ORDER BY guild_id`, string(user))
}

// LiftHidden implements erasure.Archive.
func (c *Catalog) LiftHidden(ctx context.Context, user id.User) (lifted []leaderboard.GuildRef, err error) {
	err = c.inChange(ctx, "lift_hidden", func(t *tx) {
		for _, gid := range readAll(t, scanValue[string], `SELECT guild_id FROM hidden WHERE user_id = $1 AND flags <> 0 ORDER BY guild_id`, string(user)) {
			g := leaderboard.GuildRef{ID: id.Guild(gid), Hidden: t.log(changes.Guild, gid)}
			g.Incarnation, _ = readValue[guild.Incarnation](t, `UPDATE guilds SET hidden = $2 WHERE id = $1 RETURNING incarnation`, gid, g.Hidden)
			t.exec(`UPDATE hidden SET flags = 0, number = $3 WHERE guild_id = $1 AND user_id = $2`, gid, string(user), g.Hidden)
			lifted = append(lifted, g)
		}
	})
	return lifted, err
}

// HiddenAfter implements hydrate.Archive.
func (c *Catalog) HiddenAfter(ctx context.Context, g id.Guild, number int64) (part hidden.Part, err error) {
	part.After = number
	found, err := c.Guild(ctx, g)
	if err != nil {
		return part, err
	}
	part.Users, err = list(ctx, c, "read_hidden_after", scanHidden, `SELECT user_id, flags, number FROM hidden
		WHERE guild_id = $1 AND number > $2 AND number <= coalesce((
			SELECT number FROM hidden WHERE guild_id = $1 AND number > $2 ORDER BY number LIMIT 1 OFFSET $3), $4)
		ORDER BY number`, string(g), number, hidden.MaxStep-1, found.Hidden)
	if part.Upto = found.Hidden; len(part.Users) >= hidden.MaxStep {
		part.Upto = part.Users[len(part.Users)-1].Number
	}
	return part, err
}
