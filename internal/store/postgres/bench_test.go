package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/sqlarchive"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// benchMembers is how many members the table holds before a benchmark.
const benchMembers = 1_000_000

// BenchmarkWriteBatch measures what docs/adr/0005-members-by-unnest.md decides: a batch of which half is in the table of a
// million members already, on a server whose commits reach the disk.
func BenchmarkWriteBatch(b *testing.B) {
	w := newWriteBench(b)
	for _, way := range []struct {
		name string
		put  put
	}{
		{"unnest", func(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error {
			return upsert(ctx, tx, []snapshot.Batch{b}, replaceOlder)
		}},
		{"copy", putByCopy},
		{"batch", putByBatch},
	} {
		for _, rows := range []int{100, 1000, 5000} {
			b.Run(fmt.Sprintf("way=%s/rows=%d", way.name, rows), func(b *testing.B) {
				w.reset(b)
				for b.Loop() {
					b.StopTimer()
					batch := w.next(rows, rows/2)
					b.StartTimer()
					w.write(b, batch, way.put)
				}
				b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}

// BenchmarkWriteBatchOfKnownMembers is about what the writer sends in everyday life: of fifty members, one is new. And about a thousand new ones.
// The index of words costs the difference to a table without it.
func BenchmarkWriteBatchOfKnownMembers(b *testing.B) {
	w := newWriteBench(b)
	for _, words := range []struct{ name, triggers string }{{"indexed", "ENABLE"}, {"unindexed", "DISABLE"}} {
		for _, fresh := range []int{0, 20, 1000} {
			b.Run(fmt.Sprintf("words=%s/new=%d", words.name, fresh), func(b *testing.B) {
				w.exec(b, `ALTER TABLE members `+words.triggers+` TRIGGER USER`)
				w.reset(b)
				for b.Loop() {
					b.StopTimer()
					batch := w.next(1000, fresh)
					b.StartTimer()
					if err := snapshot.WriteBatch(b.Context(), w.archive, w.lease, batch); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

type writeBench struct {
	archive *Archive
	lease   lease.Lease
	guild   leaderboard.GuildRef
	rev     int64
}

func newWriteBench(b *testing.B) *writeBench {
	b.Helper()
	a, err := Open(b.Context(), testenv.PostgresServer(b, testenv.WithDurableCommits()).URL(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(a.Close)
	w := &writeBench{archive: a, rev: 1}
	if err := a.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	settings, err := guild.Parse("100000000000000001", []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001"}`))
	if err != nil {
		b.Fatal(err)
	}
	g, _, err := a.PutGuild(b.Context(), settings)
	if err != nil {
		b.Fatal(err)
	}
	w.guild = leaderboard.Ref(g)
	if w.lease, err = a.AcquireLease(b.Context(), "bench", time.Hour, false); err != nil {
		b.Fatal(err)
	}
	for from := 0; from < benchMembers; from += 50_000 { // below the limit on statements
		w.exec(b, `
		INSERT INTO members (incarnation, user_id, xp, message_count, updated_ms, cooldown_ms, avatar, discriminator, username,
			global_name, accent_colour, words, present, deleted, epoch, rev, written_ms)
		SELECT $1, '3' || lpad(i::text, 17, '0'), i, i, 1767225600000 + i, 1767225660000 + i, md5(i::text), '0', 'gopher' || i,
			'Gopher ' || i, '#00add8', concat_ws(' ', i, 'gopher', 'gopher' || i), true, false, 0, 0, 0
		FROM generate_series($2::integer, $2 + 49999) AS i`, int64(g.Incarnation), from)
	}
	return w
}

func (w *writeBench) exec(b *testing.B, sql string, args ...any) {
	b.Helper()
	if _, err := w.archive.pool.Exec(b.Context(), sql, args...); err != nil {
		b.Fatal(err)
	}
}

// reset takes out what an earlier benchmark added, so that each begins with the same table.
func (w *writeBench) reset(b *testing.B) {
	b.Helper()
	for _, sql := range []string{`DELETE FROM members WHERE user_id >= '4'`, `DELETE FROM member_words WHERE user_id >= '4'`, `VACUUM ANALYZE members, member_words`, `CHECKPOINT`} {
		w.exec(b, sql)
	}
}

// put is a way to write the rows of a batch.
type put func(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error

// write does what WriteBatch does with a batch that fits, but for the way in which the rows are written.
func (w *writeBench) write(b *testing.B, batch snapshot.Batch, put put) {
	b.Helper()
	err := w.archive.inTx(b.Context(), "write members", func(ctx context.Context, tx pgx.Tx) error {
		if _, err := raiseArchived(ctx, tx, []snapshot.Batch{batch}, []error{nil}); err != nil {
			return err
		}
		if err := checkLease(ctx, tx, w.lease); err != nil {
			return err
		}
		return put(ctx, tx, batch)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// next returns a batch of which some rows are of new members, and the others update random ones, whose names stay.
func (w *writeBench) next(rows, fresh int) snapshot.Batch {
	w.rev++
	batch := snapshot.Batch{Guild: w.guild, Rev: w.rev, Known: w.rev, Rows: make([]snapshot.Row, 0, rows)}
	seen := map[id.User]bool{}
	avatar, colour := "0123456789abcdef0123456789abcdef", "#00add8"
	for len(batch.Rows) < rows {
		first, number := 3, rand.Int64N(benchMembers)
		if len(batch.Rows) < fresh {
			first, number = 4, rand.Int64N(1e17)
		}
		user := id.User(fmt.Sprintf("%d%017d", first, number))
		if seen[user] {
			continue
		}
		seen[user] = true
		now := time.UnixMilli(1767225600000 + w.rev)
		name, globalName := fmt.Sprintf("gopher%d", number), fmt.Sprintf("Gopher %d", number)
		batch.Rows = append(batch.Rows, snapshot.Row{
			Member: leaderboard.Member{
				UserID: user, XP: level.XP(w.rev), MessageCount: w.rev, LastUpdated: now,
				User: leaderboard.User{Avatar: &avatar, Discriminator: "0", Username: name, GlobalName: &globalName, AccentColour: &colour},
			},
			CooldownUntil: now.Add(time.Minute),
		})
	}
	return batch
}

const memberColumns = `user_id, xp, message_count, updated_ms, cooldown_ms,
	avatar, discriminator, username, global_name, accent_colour, deleted, present, words`

func valuesOf(r *snapshot.Row) []any {
	return []any{
		string(r.UserID), int64(r.XP), r.MessageCount, sqlarchive.Millis(r.LastUpdated), sqlarchive.Millis(r.CooldownUntil),
		r.User.Avatar, r.User.Discriminator, r.User.Username, r.User.GlobalName, r.User.AccentColour, r.Deleted, !r.Absent, leaderboard.Words(r.User),
	}
}

// putByCopy copies the rows into a temporary table, which the connection keeps, and from there into members.
func putByCopy(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error {
	_, err := tx.Exec(ctx, `
		CREATE TEMPORARY TABLE IF NOT EXISTS incoming ON COMMIT DELETE ROWS AS SELECT `+memberColumns+` FROM members LIMIT 0`)
	if err != nil {
		return err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"incoming"}, []string{
		"user_id", "xp", "message_count", "updated_ms", "cooldown_ms",
		"avatar", "discriminator", "username", "global_name", "accent_colour", "deleted", "present", "words",
	}, pgx.CopyFromSlice(len(b.Rows), func(i int) ([]any, error) { return valuesOf(&b.Rows[i]), nil }))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO members AS m (incarnation, epoch, rev, written_ms, `+memberColumns+`)
		SELECT $1, $2, $3, `+nowMS+`, `+memberColumns+` FROM incoming
		ON CONFLICT (incarnation, user_id) DO UPDATE SET`+sqlarchive.ReplaceOlder, int64(b.Guild.Incarnation), b.Epoch, b.Rev)
	return err
}

// putByBatch sends one statement for each row, all at once.
func putByBatch(ctx context.Context, tx pgx.Tx, b snapshot.Batch) error {
	var batch pgx.Batch
	for i := range b.Rows {
		batch.Queue(`
			INSERT INTO members AS m (incarnation, epoch, rev, written_ms, `+memberColumns+`)
			VALUES ($1, $2, $3, `+nowMS+`, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
			ON CONFLICT (incarnation, user_id) DO UPDATE SET`+sqlarchive.ReplaceOlder,
			append([]any{int64(b.Guild.Incarnation), b.Epoch, b.Rev}, valuesOf(&b.Rows[i])...)...)
	}
	return tx.SendBatch(ctx, &batch).Close()
}
