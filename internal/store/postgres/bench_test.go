package postgres

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// benchMembers is the size of the table before a benchmark.
const benchMembers = 1_000_000

// BenchmarkWriteBatchOfKnownMembers measures docs/adr/0005-members-by-json.md on a server whose commits reach the disk: with one new member in
// fifty, as in everyday use, and with a thousand new ones. The difference to a table without the index of words is its cost.
func BenchmarkWriteBatchOfKnownMembers(b *testing.B) {
	w := newWriteBench(b)
	for _, words := range []struct{ name, triggers string }{{"indexed", "ENABLE"}, {"unindexed", "DISABLE"}} {
		for _, fresh := range []int{0, 20, 1000} {
			b.Run(fmt.Sprintf("words=%s/new=%d", words.name, fresh), func(b *testing.B) {
				w.exec(b, `ALTER TABLE members `+words.triggers+` TRIGGER USER`)
				w.reset(b)
				w.write(b, 1000, fresh)
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

// reset deletes what an earlier benchmark added, so that each begins with the same table.
func (w *writeBench) reset(b *testing.B) {
	b.Helper()
	for _, sql := range []string{`DELETE FROM members WHERE user_id >= '4'`, `DELETE FROM member_words WHERE user_id >= '4'`, `VACUUM ANALYZE members, member_words`, `CHECKPOINT`} {
		w.exec(b, sql)
	}
}

// write writes batches of rows, some of new members.
func (w *writeBench) write(b *testing.B, rows, fresh int) {
	b.Helper()
	for b.Loop() {
		b.StopTimer()
		batch := w.next(rows, fresh)
		b.StartTimer()
		if err := snapshot.WriteBatch(b.Context(), w.archive, w.lease, batch); err != nil {
			b.Fatal(err)
		}
	}
}

// next returns a batch in which some rows are of new members, and the others update random ones without a new name.
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
