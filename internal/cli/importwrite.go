package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// writeTries is how often a call is sent, with pauses that double from firstPause to longestPause, while the service cannot serve it.
	writeTries               = 6
	firstPause, longestPause = time.Second, 8 * time.Second
)

// imported is what became of the members.
type imported struct {
	Created, Changed, Unchanged int
	Checkpoint                  string
}

// writing is an import whose members are being written, in calls that are made once each.
type writing struct {
	*importing
	importID string
	calls    int
	done     *imported
}

// write writes the members.
func (i *importing) write(ctx context.Context, p *program, importID string, done *imported) error {
	w, bar := &writing{importing: i, importID: importID, done: done}, p.progress(i.plan.Members)
	defer bar.end()
	for call, err := range i.members.Calls(leaderboard.PutMode(i.mode), i.then.Curve, level.Level(i.minLevel)) {
		if err == nil {
			err = w.send(ctx, call.Body)
		}
		if err != nil {
			return err
		}
		bar.add(len(call.Members))
	}
	return nil
}

// send sends a call, until the service has taken it.
func (w *writing) send(ctx context.Context, body []byte) error {
	put, err := w.put(ctx, body)
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
	w.calls++
	return nil
}

type putOutcomes struct {
	Results []struct {
		Outcome string `json:"outcome"`
	} `json:"results"`
}

// put sends one call. Its key makes it safe to repeat when its outcome is unknown.
func (w *writing) put(ctx context.Context, body []byte) (put putOutcomes, err error) {
	key, wait := fmt.Sprintf("%s-%d", w.importID, w.calls), firstPause
	for try := 1; ; try++ {
		_, answer, err := w.client.callOnce(ctx, http.MethodPut, w.path+"/members", body, key)
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
