package announce

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

const (
	// oldest is the age at which an event is dropped.
	oldest = 15 * time.Minute
	// mostTries is how often a post is tried; the wait between two tries doubles each time.
	mostTries = 5
	// eventsAtOnce is how many events are read at once.
	eventsAtOnce = 25
)

// delivery posts one announcement.
type delivery struct {
	*Announcer
	term *term // nil for a test or a preview
	State
	guild    *guild.Guild
	settings *announcement.Announcement
	board    Board
}

// deliver posts everything that an announcement has to post, in order. After an error it schedules another look at the guild.
func (t *term) deliver(ctx context.Context, s State) {
	d := &delivery{Announcer: t.Announcer, term: t, State: s, board: t.Board}
	more, err := true, error(nil)
	for more && err == nil {
		more, err = d.step(ctx)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, lease.ErrLost) {
		return
	}
	if !errors.Is(err, ErrUnknown) {
		t.Log.WarnContext(ctx, "an announcement has to wait; it is retried: check Redis and the archive",
			"guild", s.Guild, "announcement", s.ID, "error", err)
	}
	t.lookAt(s.Guild, time.Now().Add(t.every))
}

// step posts the first events after the cursor, or edits a board. more says that there may be more to post.
func (d *delivery) step(ctx context.Context) (more bool, err error) {
	d.guild, d.settings, err = d.find(ctx, d.Key)
	switch {
	case fault.Is(err, fault.NotFound) || err == nil && d.settings.Kind != d.Kind:
		return false, nil // it was deleted, or became another
	case err != nil:
		return false, err
	case d.Kind == announcement.Board:
		return false, d.edit(ctx)
	}
	read, err := d.Live.ReadEvents(ctx, []events.Cursor{{Guild: leaderboard.Ref(d.guild), After: d.Cursor}}, eventsAtOnce)
	if err != nil || len(read[0]) == 0 {
		return false, err
	}
	p, err := d.compose(ctx, read[0])
	switch {
	case err != nil:
		return false, err
	case p.text != "":
		return true, d.send(ctx, p)
	}
	d.Cursor = p.upTo
	return true, d.note(ctx)
}

// send tries a post until it is accepted, rejected for good or too old, and notes the result.
func (d *delivery) send(ctx context.Context, p post) error {
	for tries := 1; time.Since(p.at) <= oldest; {
		answer, err := d.try(ctx, p)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d.LastError = problem(answer, err)
		wait := d.waitAfter(answer, tries)
		switch status := answer.Status; {
		case d.LastError == "":
			d.LastSent = time.Now()
			if d.Kind != announcement.Board {
				lag.Observe(d.LastSent.Sub(p.at).Seconds())
			}
			return d.pass(ctx, p, sent)
		case isGone(status):
			d.Off = d.LastError
			d.Log.WarnContext(ctx, "an announcement was switched off, because its webhook is gone; its managers see that in the settings",
				"guild", d.Guild, "announcement", d.ID, "status", status)
			return d.pass(ctx, p, switchedOff)
		case status == http.StatusTooManyRequests: // this is no try
		case tries == mostTries, err == nil && status < http.StatusInternalServerError:
			return d.pass(ctx, p, dropped)
		default:
			tries++
		}
		count(d.Kind, retried)
		if err := d.note(ctx); err != nil {
			return err
		}
		if !pause.For(ctx, wait) {
			return ctx.Err()
		}
	}
	return d.pass(ctx, p, expired)
}

// isGone reports whether a status says that the webhook no longer exists or may no longer be used.
func isGone(status int) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone}, status)
}

// pass counts the outcome of a post and moves the cursor behind it.
func (d *delivery) pass(ctx context.Context, p post, outcome string) error {
	count(d.Kind, outcome)
	d.Cursor = p.upTo
	return d.note(ctx)
}

// note writes the state and retries until it succeeds, since a post that is not noted would be repeated.
func (d *delivery) note(ctx context.Context) error {
	for {
		err := d.Archive.NoteAnnouncement(ctx, d.term.lease, d.State)
		if err == nil || errors.Is(err, ErrUnknown) || errors.Is(err, lease.ErrLost) || !pause.For(ctx, d.every) {
			return err
		}
	}
}
