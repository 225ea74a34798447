package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"levelboard/internal/domain/period"
	"levelboard/internal/store/postgres"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/usecase/snapshot"
)

// A purge finds old gains and periods among many newer ones by indexes. One with nothing to purge reads next to nothing.
func TestHistoryIsPurgedByIndex(t *testing.T) {
	url := postgrestest.URL(t)
	const guilds, history = 1000, 30
	today := period.DayAt(time.Now(), time.UTC)
	for _, table := range []string{"guilds", "gains", "periods", "standings"} {
		exec(t, url, `ALTER TABLE `+table+` SET (autovacuum_enabled = false)`)
	}
	exec(t, url, fmt.Sprintf(`INSERT INTO guilds (id, incarnation, settings, version, created_ms, gains_from)
		SELECT (200000000000000000 + i)::text, i, '{}', 1, 0, %d FROM generate_series(1, %d) i`, today-9, guilds))
	exec(t, url, fmt.Sprintf(`INSERT INTO gains (incarnation, user_id, day, gained)
		SELECT i, 300000000000000000 + u, %d - d, 1 FROM generate_series(1, %d) i, generate_series(1, 4) u, generate_series(0, 9) d`, today, guilds))
	exec(t, url, fmt.Sprintf(`INSERT INTO periods (incarnation, id, kind, name, first_day, end_day, begins_ms, ends_ms, members, board, closed_ms)
		SELECT i, d::text, 'day', '', d, d + 1, d * 86400000::bigint, (d + 1) * 86400000::bigint, 4, true, 0
		FROM generate_series(1, %d) i, generate_series(%d, %d) d`, guilds, today-10, today-1))
	exec(t, url, `INSERT INTO standings (period, rank, user_id, gained, xp, message_count, discriminator, username)
		SELECT number, r, 300000000000000000 + r, 1, 1, 1, '', '' FROM periods, generate_series(1, 4) r`)
	exec(t, url, `VACUUM ANALYZE`)
	// One guild has old gains.
	exec(t, url, fmt.Sprintf(`UPDATE guilds SET gains_from = %d WHERE incarnation = 500`, today-100))
	exec(t, url, fmt.Sprintf(`INSERT INTO gains SELECT 500, 300000000000000000 + u, %d, 1 FROM generate_series(1, 20) u`, today-100))
	exec(t, url, `UPDATE periods SET ends_ms = 0 WHERE number = 5000`)
	exec(t, url, `INSERT INTO standings (period, rank, user_id, gained, xp, message_count, discriminator, username)
		SELECT 5000, r, 300000000000000000 + r, 1, 1, 1, '', '' FROM generate_series(5, 120) r`)

	for _, want := range []int{40 + 2, 0} {
		readsFew(t, url, 500, open(t, url+"&pool_max_conns=1"), func(a *postgres.Archive) {
			n, err := a.Purge(t.Context(), 1000, snapshot.Keep{Tombstones: time.Hour, History: history})
			if err != nil || n != want {
				t.Errorf("purged %d rows (%v), want %d", n, err, want)
			}
		})
	}
	// One call reads the old periods of many guilds, even if it must delete nothing.
	exec(t, url, `UPDATE periods SET ends_ms = 0 WHERE number <= 600`)
	if n, err := open(t, url).Purge(t.Context(), 1000, snapshot.Keep{Tombstones: time.Hour, History: history}); err != nil || n != 600 {
		t.Errorf("%d periods were read (%v), want 600", n, err)
	}
}
