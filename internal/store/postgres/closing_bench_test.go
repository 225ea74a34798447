package postgres

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/periods"
)

// BenchmarkClosePeriod closes a month in which each of a million members gained on some days, beside the same gains of the month before. It
// reports the sizes of a row of gains and of standings with their indexes, and the time for a page.
func BenchmarkClosePeriod(b *testing.B) {
	month := period.At(period.Monthly, period.DayOf(2026, time.November, 1))
	for _, days := range []int{3, 10} {
		b.Run(fmt.Sprintf("days=%d", days), func(b *testing.B) {
			w := newWriteBench(b)
			for _, from := range []period.Day{month.First - 30, month.First} {
				for day := range days {
					w.exec(b, `
						INSERT INTO gains (incarnation, user_id, day, gained)
						SELECT $1, '3' || lpad(i::text, 17, '0'), $2, 1 + random() * 5000 FROM generate_series(0, $3 - 1) AS i`,
						int64(w.guild.Incarnation), int64(from)+int64(2*day), benchMembers)
				}
			}
			w.exec(b, `VACUUM ANALYZE gains`)
			w.exec(b, `VACUUM ANALYZE members`)
			g, err := w.archive.Guild(b.Context(), w.guild.ID)
			if err != nil {
				b.Fatal(err)
			}
			step := periods.Closing{Guild: g, Period: &month, Begins: time.Now(), Ends: time.Now(), Board: true}
			for b.Loop() {
				if _, err := w.archive.ClosePeriod(b.Context(), w.lease, step); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				w.reportSize(b, "gains")
				w.reportSize(b, "standings")
				w.reportPages(b, month)
				w.exec(b, `TRUNCATE periods, standings`)
				b.StartTimer()
			}
		})
	}
}

// reportPages reports the time to read the closed period and a page of it, anywhere on its board.
func (w *writeBench) reportPages(b *testing.B, p period.Period) {
	b.Helper()
	const pages = 200
	began := time.Now()
	for range pages {
		if _, err := w.archive.Closed(b.Context(), w.guild, p.ID); err != nil {
			b.Fatal(err)
		}
		rows, err := w.archive.Standings(b.Context(), w.guild, p.ID, int64(100*rand.IntN(benchMembers/100)), 100)
		if err != nil || len(rows) != 100 {
			b.Fatal(len(rows), err)
		}
	}
	b.ReportMetric(float64(time.Since(began).Milliseconds())/pages, "ms/page")
}

// reportSize reports the bytes of a row of a table, with its indexes.
func (w *writeBench) reportSize(b *testing.B, table string) {
	b.Helper()
	var rows, bytes float64
	err := w.archive.pool.QueryRow(b.Context(), `SELECT count(*)::float, pg_total_relation_size('`+table+`')::float FROM `+table).Scan(&rows, &bytes)
	if err != nil || rows == 0 {
		b.Fatal(rows, err)
	}
	b.ReportMetric(bytes/rows, table+"-B/row")
}
