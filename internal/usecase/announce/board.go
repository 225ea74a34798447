package announce

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/period"
	"levelboard/internal/platform/outbound"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// editEvery is how often a board is edited at most.
	editEvery = time.Minute
	// unknownMessage is the code with which Discord says that a message was deleted.
	unknownMessage = 10008
	// longestName is how many characters of a name a board shows: 25 rows fit into a message.
	longestName = 32
)

// board edits a board's message if what it shows has changed.
func (d *delivery) board(ctx context.Context) (more bool, err error) {
	if wait := editEvery - time.Since(d.LastSent); wait > 0 {
		d.work.later(d.Key, time.Now().Add(wait))
		return false, nil
	}
	g, settings, err := d.find(ctx, d.Key)
	if err != nil || settings == nil || settings.Kind != d.Kind {
		return false, err
	}
	text, until, err := d.boardText(ctx, g, settings)
	if err != nil {
		return false, err
	}
	if !until.IsZero() {
		d.work.later(d.Key, until)
	}
	if d.Message != "" && d.Shown == digest(text) {
		return false, nil
	}
	p := d.edit(settings.URL, text)
	if err = d.send(ctx, p); err == nil && d.LastError != "" && d.Off == "" {
		d.work.later(d.Key, time.Now().Add(editEvery))
	}
	return false, err
}

// edit is the post that makes a board's message show a text. Without a message it makes one.
func (d *delivery) edit(webhook announcement.Secret, text string) post {
	p := post{upTo: d.Cursor, at: time.Now()}
	p.make = func() (*http.Request, error) {
		address, err := messageURL(webhook, d.Message)
		if err != nil {
			return nil, err
		}
		method := http.MethodPatch
		if d.Message == "" {
			method = http.MethodPost
		}
		return newRequest(method, address, discordMessage(text, nil))
	}
	p.took = func(body []byte) {
		var message struct {
			ID string `json:"id"`
		}
		if d.Shown = digest(text); d.Message == "" && json.Unmarshal(body, &message) == nil {
			d.Message = message.ID
		}
	}
	return p
}

// deletedByHand reports whether an answer says that a message is gone.
func deletedByHand(a outbound.Answer) bool {
	var body struct {
		Code int `json:"code"`
	}
	return a.Status == http.StatusNotFound && json.Unmarshal(a.Body, &body) == nil && body.Code == unknownMessage
}

// boardText is what a board shows, and until when at most: of a period until its end.
func (a *Announcer) boardText(ctx context.Context, g *guild.Guild, settings *announcement.Announcement) (text string, until time.Time, err error) {
	lines, title := []string{}, g.Name
	line := func(rank int64, u leaderboard.User, what string) {
		lines = append(lines, fmt.Sprintf("%d. %s: %s", rank, announcement.Escape(displayname.Cut(nameOf(u), longestName)), what))
	}
	if settings.Period == nil {
		view, err := a.Board.View(ctx, g, leaderboard.Look{Pages: []int64{1}})
		if err != nil {
			return "", until, err
		}
		for _, page := range view.Pages {
			for _, m := range page.Rows[:min(len(page.Rows), settings.Top)] {
				line(m.Rank, m.User, fmt.Sprintf("level %d (%d XP)", g.Curve.LevelAt(m.XP), m.XP))
			}
		}
	} else {
		calendar := g.Calendar()
		running, ok := calendar.Of(period.Kind(*settings.Period), period.DayAt(time.Now(), calendar.Zone))
		title += ", " + *settings.Period
		if ok {
			title = g.Name + ", " + running.ID
			if running.Name != "" {
				title = g.Name + ", " + running.Name
			}
			_, until = running.Bounds(calendar.Zone)
			found, err := a.Board.Standings(ctx, g, running, 0, int64(settings.Top))
			if err != nil {
				return "", until, err
			}
			for _, m := range found.Rows {
				line(m.Rank, m.User, fmt.Sprintf("%d XP", m.Gained))
			}
		}
	}
	if len(lines) == 0 {
		lines = []string{"Nobody is on this board yet."}
	}
	return displayname.Cut("**"+announcement.Escape(title)+"**\n"+strings.Join(lines, "\n"), announcement.MaxMessage), until, nil
}

// digest stands for a text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawStdEncoding.EncodeToString(sum[:12])
}
