package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/store/postgres"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const (
	crowd     = 20_000 // rows of the large guild in each table
	newcomers = 1_000
)

// large is the guild of this file's tests, with incarnation 7.
var large = leaderboard.GuildRef{ID: "100000000000000007", Incarnation: 7}

// fillLarge inserts the large guild's rows. Every fourth member is a tombstone, and every fifth request is open.
const fillLarge = `
	INSERT INTO members (incarnation, user_id, xp, message_count, discriminator, username, words, present, deleted, epoch, rev, written_ms)
	SELECT 7, (300000000000000000 + i)::text, 1, 1, '', '', '', i %% 3 > 0, i %% 4 = 0, 0, 1, 1e15 FROM generate_series(1, %[1]d) i;
	INSERT INTO gains SELECT 7, (300000000000000000 + i)::text, 20000 + d, 1 FROM generate_series(1, %[1]d) i, generate_series(0, 1) d WHERE i %% 4 > 0;
	INSERT INTO periods (incarnation, id, kind, name, first_day, end_day, begins_ms, ends_ms, members, board, closed_ms)
	SELECT 7, 'p' || d, 'day', '', d, d + 1, d * 86400000::bigint, (d + 1) * 86400000::bigint, 1, true, 0 FROM generate_series(19000, 19999) d;
	INSERT INTO standings (period, rank, user_id, gained, xp, message_count, discriminator, username)
	SELECT number, i, (300000000000000000 + i)::text, 1, 1, 1, '', '' FROM periods, generate_series(1, %[1]d) i WHERE incarnation = 7 AND id = 'p19500';
	INSERT INTO requests (incarnation, name, request, made_ms, outcome, users, epoch, rev)
	SELECT 7, sha256(i::text::bytea), '', 1e15, '', '1', 0, CASE WHEN i %% 5 = 0 THEN i END FROM generate_series(1, %[1]d) i;
	INSERT INTO audit SELECT 7, i, 0, 'key', 'key' || i %% 1000, '', 'xp', (300000000000000000 + i %% 5000)::text, '', '', NULL, '', ''
	FROM generate_series(1, %[1]d) i;`

// fillSmall inserts a thousand guilds with one row in each table, so that each column of ids seems to be unique.
const fillSmall = `
	INSERT INTO members (incarnation, user_id, xp, message_count, discriminator, username, words, present, deleted, epoch, rev, written_ms)
	SELECT 1000 + i, (400000000000000000 + i)::text, 1, 1, '', '', '', i % 3 > 0, i % 4 = 0, 0, 1, 1e15 FROM generate_series(1, 1000) i;
	INSERT INTO gains SELECT 1000 + i, (400000000000000000 + i)::text, 10000 + i, 1 FROM generate_series(1, 1000) i;
	INSERT INTO periods (incarnation, id, kind, name, first_day, end_day, begins_ms, ends_ms, members, board, closed_ms)
	SELECT 1000 + i, 'p' || i, 'day', '', i, i + 1, i * 86400000::bigint, (i + 1) * 86400000::bigint, 1, true, 0 FROM generate_series(1, 1000) i;
	INSERT INTO standings (period, rank, user_id, gained, xp, message_count, discriminator, username)
	SELECT number, 1, (400000000000000000 + number)::text, 1, 1, 1, '', '' FROM periods;
	INSERT INTO requests (incarnation, name, request, made_ms, outcome, users, epoch, rev)
	SELECT 1000 + i, sha256(i::text::bytea), '', 1e15, '', '1', 0, i FROM generate_series(1, 1000) i;
	INSERT INTO audit SELECT 1000 + i, i, 0, 'key', 'key' || i, '', 'xp', (400000000000000000 + i)::text, '', '', NULL, '', '' FROM generate_series(1, 1000) i;
	ANALYZE;`

// emptied sets the statistics that a vacuum leaves in tables whose rows were all deleted, except the last one of some page.
const emptied = `
	UPDATE pg_class SET reltuples = 0, relpages = 1 WHERE oid IN (SELECT relid FROM pg_stat_user_tables UNION SELECT indexrelid FROM pg_stat_user_indexes);
	DELETE FROM pg_statistic WHERE starelid IN (SELECT relid FROM pg_stat_user_tables);`

// Each operation costs as much as its rows, whatever the server's statistics say: there may be none, or those of small guilds or of
// empty tables.
func TestAnOperationCostsItsRowsWithAnyStatistics(t *testing.T) {
	fill := fmt.Sprintf(fillLarge, crowd)
	for name, statements := range map[string][]string{
		"no statistics":                {fill},
		"statistics of small guilds":   {fillSmall, fill},
		"statistics of emptied tables": {fill, emptied},
	} {
		t.Run(name, func(t *testing.T) {
			url := postgrestest.URL(t)
			exec(t, url, `DO $$ DECLARE t text; BEGIN
				FOR t IN SELECT relname FROM pg_stat_user_tables LOOP EXECUTE 'ALTER TABLE ' || t || ' SET (autovacuum_enabled = false)'; END LOOP;
			END $$`)
			exec(t, url, `INSERT INTO guilds (id, incarnation, settings, version, created_ms) SELECT (100000000000000000 + i)::text, i, '{}', 1, 0 FROM generate_series(1, 7) i`)
			for _, statement := range statements {
				exec(t, url, statement)
			}
			for _, o := range operations {
				touchesFew(t, url, o)
			}
		})
	}
}

// A new installation has no statistics. Its first guild gets twenty thousand members, a thousand at a time. The last batch costs no more.
func TestTheFirstBatchesCostTheSame(t *testing.T) {
	url := postgrestest.URL(t)
	for _, table := range []string{"guilds", "members", "gains"} {
		exec(t, url, `ALTER TABLE `+table+` SET (autovacuum_enabled = false)`)
	}
	exec(t, url, `INSERT INTO guilds (id, incarnation, settings, version, created_ms) VALUES ('`+string(large.ID)+`', 7, '{}', 1, 0)`)
	for batch := range 20 {
		touchesFew(t, url, operation{fmt.Sprint("batch ", batch), 3 * perRow * newcomers, func(t *testing.T, a *postgres.Archive) error {
			l, err := a.AcquireLease(t.Context(), "writer", time.Hour, false)
			must(t, err)
			return snapshot.WriteBatch(t.Context(), a, l, gainsOf(fmt.Sprint(10+batch), int64(batch+1), false))
		}})
	}
}

// operation is an operation on an archive with the number of pages of tables and indexes that it may touch.
type operation struct {
	name string
	most int64
	do   func(t *testing.T, a *postgres.Archive) error
}

// perRow is the number of pages that it costs to find a row by an index.
const perRow = 16

var operations = []operation{
	{"write gains", 3 * perRow * newcomers, func(t *testing.T, a *postgres.Archive) error {
		l, err := a.AcquireLease(t.Context(), "writer", time.Hour, false)
		must(t, err)
		return snapshot.WriteBatch(t.Context(), a, l, gainsOf("5", 2, false))
	}},
	{"write gains again", 3 * perRow * newcomers, func(t *testing.T, a *postgres.Archive) error {
		l, err := a.AcquireLease(t.Context(), "writer", time.Hour, false)
		must(t, err)
		return snapshot.WriteBatch(t.Context(), a, l, gainsOf("3", 3, false))
	}},
	{"salvage", 4 * perRow * newcomers, func(t *testing.T, a *postgres.Archive) error {
		return a.Salvage(t.Context(), snapshot.State{Archived: 3}, gainsOf("3", 4, false))
	}},
	{"delete members", 4 * perRow * newcomers, func(t *testing.T, a *postgres.Archive) error {
		l, err := a.AcquireLease(t.Context(), "writer", time.Hour, false)
		must(t, err)
		return snapshot.WriteBatch(t.Context(), a, l, gainsOf("5", 5, true))
	}},
	{"bury members", 4 * perRow * newcomers, func(t *testing.T, a *postgres.Archive) error {
		b := gainsOf("5", 6, true)
		b.Known = 6
		return a.Salvage(t.Context(), snapshot.State{Archived: 5}, b)
	}},
	{"write a small batch", 100 * perRow, func(t *testing.T, a *postgres.Archive) error {
		l, err := a.AcquireLease(t.Context(), "writer", time.Hour, false)
		must(t, err)
		return snapshot.WriteBatch(t.Context(), a, l, snapshot.Batch{Guild: large, Rev: 20, Known: 20, Rows: gainsOf("6", 0, false).Rows[:10]})
	}},
	{"read a page of members", 3 * perRow * 1000, func(t *testing.T, a *postgres.Archive) error {
		_, err := a.Members(t.Context(), large, "300000000000003000", 1000)
		return err
	}},
	{"read a user's gains", 2 * perRow, func(t *testing.T, a *postgres.Archive) error {
		_, err := a.History(t.Context(), large, "300000000000003001", 20000)
		return err
	}},
	{"read the last day", 2 * perRow, func(t *testing.T, a *postgres.Archive) error {
		_, err := a.LastDay(t.Context(), large)
		return err
	}},
	{"read a past request", 2 * perRow, func(t *testing.T, a *postgres.Archive) error {
		_, err := a.Past(t.Context(), large, leaderboard.Digest{1})
		return err
	}},
	{"read a period", 2 * perRow, func(t *testing.T, a *postgres.Archive) error {
		_, err := a.Standings(t.Context(), large, "p19500", 9000, 5)
		return err
	}},
	{"find a user in a period", 4 * perRow, func(t *testing.T, a *postgres.Archive) error {
		_, err := a.StandingsBefore(t.Context(), large, "p19500", "300000000000003001", 10)
		return err
	}},
	{"list periods", 1000, func(t *testing.T, a *postgres.Archive) error {
		_, err := a.ClosedPeriods(t.Context(), large, "", 0, 10)
		return err
	}},
	{"list periods to announce", 1000, func(t *testing.T, a *postgres.Archive) error {
		_, err := a.Unannounced(t.Context(), 0, 10)
		return err
	}},
	{"read the audit log", 60 * perRow, readAudit(audit.Query{Limit: 50})},
	{"read the audit log before a time", 60 * perRow, readAudit(audit.Query{Limit: 50, Before: audit.ID{Millis: 9000}})},
	{"read the audit log of a user", 10 * perRow, readAudit(audit.Query{Limit: 3, User: "300000000000003001"})},
	{"read the audit log of an unknown user", 3 * perRow, readAudit(audit.Query{Limit: 3, User: "5"})},
	{"read the audit log of an unknown key", 3 * perRow, readAudit(audit.Query{Limit: 3, Actor: "5"})},
	{"raise the epoch", 3 * perRow * crowd / 5, func(t *testing.T, a *postgres.Archive) error {
		s, err := a.State(t.Context(), large)
		must(t, err)
		_, err = a.RaiseEpoch(t.Context(), large, s, -1)
		return err
	}},
}

func readAudit(q audit.Query) func(t *testing.T, a *postgres.Archive) error {
	return func(t *testing.T, a *postgres.Archive) error {
		_, err := a.ReadAudit(t.Context(), large.ID, q, func(_ guild.Incarnation, last time.Time) (time.Time, error) { return last, nil })
		return err
	}
}

// gainsOf returns a batch of members, whose ids begin with a digit, with gains of two days.
func gainsOf(digit string, rev int64, deleted bool) snapshot.Batch {
	b := snapshot.Batch{Guild: large, Rev: rev, Known: rev}
	for i := range newcomers {
		r := snapshot.Row{Member: leaderboard.Member{UserID: id.User(fmt.Sprintf("%s%017d", digit, i+1))}, Deleted: deleted}
		if !deleted {
			r.Gains = []period.Gain{{Day: 20001, Gained: 5}, {Day: 20000, Gained: 1}}
		}
		b.Rows = append(b.Rows, r)
	}
	return b
}

// touchesFew fails if an operation touches too many pages.
func touchesFew(t *testing.T, url string, o operation) {
	t.Helper()
	touched := counted(t, url, `SELECT sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0))::bigint
		FROM pg_statio_user_tables`, open(t, url+"&pool_max_conns=1"), func(a *postgres.Archive) {
		if err := o.do(t, a); err != nil {
			t.Errorf("the operation %s failed: %v", o.name, err)
		}
	})
	if touched > o.most {
		t.Errorf("%s: the server touched %d pages, want at most %d", o.name, touched, o.most)
	}
}
