package torture

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// archived is a member's row in SQL.
type archived struct {
	Guild    string
	User     string
	XP       int64
	Messages int64
	Updated  int64
	Cooldown int64
	Name     string
	Deleted  bool
	Epoch    int64
	Rev      int64
	Gained   int64 // of all days
	Away     bool
}

func (a archived) state() state {
	if a.Deleted {
		return state{}
	}
	return state{true, a.XP, a.Name, a.Messages, a.Gained, a.Away}
}

// rows reads the archive directly: every row of an existing guild, by guild/user.
func (h *harness) rows() (map[string]archived, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, h.postgres.URL())
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	gained := "0::bigint"
	if h.counts {
		gained = "(SELECT COALESCE(sum(gained), 0)::bigint FROM gains WHERE gains.incarnation = m.incarnation AND gains.user_id = m.user_id)"
	}
	found, err := conn.Query(ctx, `
		SELECT g.id, m.user_id, m.xp, m.message_count, COALESCE(m.updated_ms, 0), COALESCE(m.cooldown_ms, 0), m.username,
			m.deleted, m.epoch, m.rev, `+gained+`, NOT m.present
		FROM members m JOIN guilds g USING (incarnation)`)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(found, pgx.RowToStructByPos[archived])
	if err != nil {
		return nil, err
	}
	all := map[string]archived{}
	for _, row := range list {
		all[row.Guild+"/"+row.User] = row
	}
	return all, nil
}

// strays counts rows that belong neither to a guild, nor to a checkpoint, nor to a deleted one that waits for its purge.
func (h *harness) strays() (int, error) {
	return h.count(`
		SELECT count(*) FROM members
		WHERE incarnation NOT IN (SELECT incarnation FROM guilds UNION SELECT incarnation FROM deleted_guilds UNION SELECT incarnation FROM checkpoints)`)
}

// strayGains counts gains without a guild, like strays, and gains of an existing guild that belong to no live member, to another day, or to
// a guild that counts nothing.
func (h *harness) strayGains() (int, error) {
	counted := []string{mainGuild}
	if h.counted(churnGuild) {
		counted = append(counted, churnGuild)
	}
	return h.count(`
		SELECT count(*) FROM gains LEFT JOIN guilds g USING (incarnation) LEFT JOIN members m USING (incarnation, user_id)
		WHERE CASE WHEN g.id IS NULL THEN incarnation NOT IN (SELECT incarnation FROM deleted_guilds)
			ELSE m.deleted IS NOT FALSE OR day <> $1 OR g.id <> ALL ($2) END`, int(h.today()), counted)
}

// awaitRemoval waits until deleted guilds have left Redis. The archive lists them until then.
func (h *harness) awaitRemoval() bool {
	return h.until(nil, func() bool {
		left, err := h.count(`SELECT count(*) FROM deleted_guilds`)
		return err == nil && left == 0
	}, "the removal of deleted guilds from Redis")
}

// openTransactions counts the open transactions in Postgres, except old ones, whose replica may hang.
func (h *harness) openTransactions() (int, error) {
	return h.count(`
		SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
			AND pid <> pg_backend_pid() AND xact_start > now() - interval '10 seconds'`)
}

// count reads a number directly from the archive.
func (h *harness) count(query string, args ...any) (n int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, h.postgres.URL())
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, query, args...).Scan(&n)
	return n, err
}

// quietTime is how long the archive must not change. A writer that has read a page still writes it, late on a busy machine.
const quietTime = 2 * time.Second

// quietRows reads the archive once it no longer changes and no transaction is open, so that all running writes have arrived.
func (h *harness) quietRows() (map[string]archived, error) {
	last, since := "", time.Now()
	for {
		rows, err := h.rows()
		if err != nil {
			return nil, err
		}
		busy, err := h.openTransactions()
		if err != nil {
			return nil, err
		}
		// fmt prints maps in the order of their keys.
		if now := fmt.Sprint(rows); now != last || busy > 0 {
			last, since = now, time.Now()
		}
		if time.Since(since) >= quietTime {
			return rows, nil
		}
		time.Sleep(snapshotInterval / 4)
	}
}

func hostOf(t *testing.T, raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal("a server's URL cannot be parsed")
	}
	return u.Host
}
