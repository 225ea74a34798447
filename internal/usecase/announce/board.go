package announce

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// editEvery is the least time between two edits of a board.
	editEvery = time.Minute
	// longestName is how many characters of a name a board shows: 25 rows fit into a message.
	longestName = 32
)

// edit edits a board's message if what it shows has changed.
func (d *delivery) edit(ctx context.Context) error {
	if next := d.LastSent.Add(editEvery); time.Now().Before(next) {
		d.lookAt(d.Guild, next)
		return nil
	}
	text, err := d.boardText(ctx)
	if err != nil || d.Message != "" && d.Shown == digest(text) {
		return err
	}
	return d.send(ctx, post{text: text, upTo: d.Cursor, at: time.Now()})
}

// boardText returns the message of a board.
func (d *delivery) boardText(ctx context.Context) (string, error) {
	title, rows, kind := d.guild.Name, []leaderboard.Standing(nil), d.settings.Period
	if kind == nil {
		view, err := d.board.View(ctx, d.guild, leaderboard.Look{Page: 1})
		if err != nil {
			return "", err
		}
		rows = leaderboard.WithoutGains(view.Rows)
	} else {
		calendar := d.guild.Calendar()
		running, configured := calendar.Of(period.Kind(*kind), period.DayAt(time.Now(), calendar.Zone))
		title += ", " + cmp.Or(running.Name, running.ID, *kind)
		if configured {
			found, err := d.board.Standings(ctx, d.guild, running, 0, int64(d.settings.Top))
			if err != nil {
				return "", err
			}
			rows = found.Rows
		}
	}
	lines := []string{"**" + announcement.Escape(title) + "**"}
	for _, m := range rows[:min(len(rows), d.settings.Top)] {
		score := fmt.Sprintf("%d XP", m.Gained)
		if kind == nil {
			score = fmt.Sprintf("level %d (%d XP)", d.guild.Curve.LevelAt(m.XP), m.XP)
		}
		lines = append(lines, fmt.Sprintf("%d. %s: %s", m.Rank, announcement.Escape(displayname.Cut(nameOf(m.User), longestName)), score))
	}
	if len(rows) == 0 {
		lines = append(lines, "Nobody is on this board yet.")
	}
	return displayname.Cut(strings.Join(lines, "\n"), announcement.MaxMessage), nil
}

// digest returns a hash of a text.
func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
