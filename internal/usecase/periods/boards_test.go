package periods_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

// awayArchive has a closed period, and does not answer while it is away.
type awayArchive struct {
	periods.Archive
	away  bool
	asked int
}

func (a *awayArchive) Closed(_ context.Context, _ leaderboard.GuildRef, periodID string) (periods.Closed, error) {
	a.asked++
	if a.away {
		return periods.Closed{}, errors.New("away")
	}
	return periods.Closed{Period: period.Period{ID: periodID}}, nil
}

// A period that closed in the old time zone and runs in the new one counts as open only while the archive does not answer.
func TestAPeriodThatHasClosedIsFoundOnceTheArchiveIsBack(t *testing.T) {
	t.Parallel()
	s, err := guild.Parse("100000000000000001", []byte(settings))
	if err != nil {
		t.Fatal(err)
	}
	g, now := &guild.Guild{Settings: s}, time.Now()
	archive := &awayArchive{away: true}
	boards := periods.NewBoards(nil, archive, func() time.Time { return now })
	find := func(wantClosed bool, wantAsked int) {
		t.Helper()
		if _, closed, err := boards.Find(t.Context(), g, "day"); err != nil || (closed != nil) != wantClosed || archive.asked != wantAsked {
			t.Errorf("the period is closed %v (%v) after %d questions, want %v after %d", closed, err, archive.asked, wantClosed, wantAsked)
		}
	}
	find(false, 1)
	find(false, 1) // requests do not ask one by one
	archive.away = false
	now = now.Add(10 * time.Second)
	find(true, 2)
}
