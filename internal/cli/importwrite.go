package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/schollz/progressbar/v3"

	"levelboard/internal/domain/level"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/importer"
)

const (
	// callMembers and callBytes bound what one call writes; the service takes 1000 and 1 MiB.
	callMembers, callBytes = 1000, 1000 << 10
	// writeTries is how often a call is sent, with pauses that double from firstPause to longestPause, while the service cannot serve it.
	writeTries               = 6
	firstPause, longestPause = time.Second, 8 * time.Second
)

// written is a member as the service takes it.
type written struct {
	UserID       string       `json:"userId"`
	XP           level.XP     `json:"xp"`
	MessageCount *int64       `json:"messageCount,omitzero"`
	User         *writtenUser `json:"user,omitzero"`
	Present      *bool        `json:"present,omitzero"`
}

type writtenUser struct {
	Avatar        *string `json:"avatar"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"globalName"`
	Username      string  `json:"username"`
}

func writtenOf(row *importer.Row) written {
	w := written{UserID: string(row.UserID), XP: row.XP, MessageCount: row.MessageCount}
	if u := row.User; u != nil {
		w.User = &writtenUser{u.Avatar, u.Discriminator, u.GlobalName, u.Username}
	}
	if !row.Present {
		w.Present = &row.Present
	}
	return w
}

// imported is what became of the members.
type imported struct {
	Created, Changed, Unchanged int
	Checkpoint                  string
}

// writing is the body of one call, as it grows.
type writing struct {
	*importing
	importID string
	calls    int
	members  int
	body     []byte
	done     *imported
	bar      *progressbar.ProgressBar // nil without a terminal
}

// write writes the members in calls, each of which is made once.
func (i *importing) write(ctx context.Context, p *program, importID string, done *imported) error {
	w := &writing{importing: i, importID: importID, done: done}
	if terminal(p.Stderr) {
		w.bar = progressbar.NewOptions(i.plan.Members, progressbar.OptionSetWriter(p.Stderr), progressbar.OptionSetDescription("importing"),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("members"), progressbar.OptionSetPredictTime(true),
			progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		defer func() { _ = w.bar.Clear() }()
	}
	for row, err := range i.members.Rows(i.then.Curve, level.Level(i.minLevel)) {
		if err != nil {
			return err
		}
		member, err := json.Marshal(writtenOf(&row))
		if err != nil {
			return fmt.Errorf("write member %s: %w", row.UserID, err)
		}
		if w.members == callMembers || len(w.body)+len(member) > callBytes {
			if err := w.send(ctx); err != nil {
				return err
			}
		}
		w.add(member)
	}
	return w.send(ctx)
}

func (w *writing) add(member []byte) {
	if w.members == 0 {
		w.body = append(w.body[:0], `{"mode":"`+w.mode+`","members":[`...)
	} else {
		w.body = append(w.body, ',')
	}
	w.body, w.members = append(w.body, member...), w.members+1
}

// send sends what was added, until the service has taken it.
func (w *writing) send(ctx context.Context) error {
	if w.members == 0 {
		return nil
	}
	w.body = append(w.body, "]}"...)
	put, err := w.put(ctx)
	if err != nil {
		return err
	}
	for _, r := range put.Results {
		switch r.Outcome {
		case "created":
			w.done.Created++
		case "changed":
			w.done.Changed++
		default:
			w.done.Unchanged++
		}
	}
	if w.bar != nil {
		_ = w.bar.Add(w.members)
	}
	w.calls, w.members = w.calls+1, 0
	return nil
}

type putOutcomes struct {
	Results []struct {
		Outcome string `json:"outcome"`
	} `json:"results"`
}

// put sends one call. Its key makes it safe to send again when nobody knows what became of it.
func (w *writing) put(ctx context.Context) (put putOutcomes, err error) {
	key, wait := fmt.Sprintf("%s-%d", w.importID, w.calls), firstPause
	for try := 1; ; try++ {
		_, answer, err := w.client.callOnce(ctx, http.MethodPut, w.path+"/members", w.body, key)
		if err == nil {
			return read[putOutcomes](answer)
		}
		var answered *refused
		if ctx.Err() != nil || try == writeTries || errors.As(err, &answered) && answered.status != http.StatusServiceUnavailable && answered.status != http.StatusTooManyRequests {
			return put, err
		}
		if !pause.For(ctx, wait) {
			return put, ctx.Err()
		}
		wait = min(2*wait, longestPause)
	}
}
