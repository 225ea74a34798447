package announce

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

const (
	// oldest is the age at which an event is dropped.
	oldest = 15 * time.Minute
	// mostTries is how often a post is tried; between two tries is the time of the first, doubled each time.
	mostTries = 5
	firstWait = time.Second
	// readAtOnce is how many events are read at once, no more than members are looked up in one step.
	readAtOnce = leaderboard.MaxViewUsers / 4
	// noteAfter is how far a cursor may pass events that are not announced before it is written.
	noteAfter = time.Minute
)

// delivery works on one announcement under a lease.
type delivery struct {
	*Announcer
	lease lease.Lease
	State
	noted events.ID // the cursor as the archive has it
}

// deliver posts all that is to be posted of an announcement, in order. Events that it cannot read now are read again later.
func (a *Announcer) deliver(ctx context.Context, l lease.Lease, s State) {
	d := &delivery{Announcer: a, lease: l, State: s, noted: s.Cursor}
	step := d.nextEvents
	if s.Kind == announcement.Board {
		step = d.board
	}
	for more := true; more; {
		var err error
		switch more, err = step(ctx); {
		case ctx.Err() != nil || errors.Is(err, lease.ErrLost):
			return
		case errors.Is(err, ErrStale):
			a.Changed(s.Guild)
			return
		case err != nil:
			a.Log.WarnContext(ctx, "an announcement has to wait; it is retried: check Redis and the archive", "guild", s.Guild, "announcement", s.ID, "error", err)
			pause.For(ctx, a.every)
			a.Changed(s.Guild)
			return
		}
	}
}

// nextEvents posts the first of what happened since the cursor; more says that there may be more.
func (d *delivery) nextEvents(ctx context.Context) (more bool, err error) {
	g, settings, err := d.find(ctx, d.Key)
	if err != nil || settings == nil || settings.Kind != d.Kind {
		return false, err
	}
	read, err := d.Live.ReadEvents(ctx, []events.Cursor{{Guild: leaderboard.Ref(g), After: d.Cursor}}, readAtOnce)
	if err != nil || len(read[0]) == 0 {
		return false, errors.Join(err, d.noteCursor(ctx))
	}
	p, err := d.compose(ctx, g, settings, read[0])
	if err != nil {
		return false, err
	}
	if p.make == nil {
		d.Cursor = p.upTo
		return true, nil
	}
	return true, d.send(ctx, p)
}

// noteCursor writes a cursor that has passed what is not announced, now and then.
func (d *delivery) noteCursor(ctx context.Context) error {
	if d.Cursor.Millis < d.noted.Millis+uint64(noteAfter.Milliseconds()) {
		return nil
	}
	return d.note(ctx)
}

// note writes the state, however long that takes: what was posted must not be posted again.
func (d *delivery) note(ctx context.Context) error {
	for {
		err := d.Archive.NoteAnnouncement(ctx, d.lease, d.State)
		if err == nil {
			d.noted = d.Cursor
		}
		if err == nil || errors.Is(err, ErrStale) || errors.Is(err, lease.ErrLost) || !pause.For(ctx, d.every) {
			return err
		}
	}
}

// post is something to be posted.
type post struct {
	make func() (*http.Request, error) // makes the request of a try; nil when there is nothing to post
	upTo events.ID                     // where the cursor is after it
	at   time.Time                     // of the first event in it
	took func(body []byte)             // when set, is called with the answer that takes it
}

// send tries to post until it is taken, refused for good, or too old, and notes what became of it.
func (d *delivery) send(ctx context.Context, p post) error {
	for tries := 1; ; {
		if time.Since(p.at) > oldest {
			count(d.Kind, expired)
			d.Cursor = p.upTo
			return d.note(ctx)
		}
		said, err := d.try(ctx, p)
		if err != nil {
			return err
		}
		d.LastError = said.text
		switch said.verdict {
		case taken:
			d.LastSent, d.Cursor = time.Now(), p.upTo
			count(d.Kind, sent)
			if d.Kind != announcement.Board {
				lag.Observe(time.Since(p.at).Seconds())
			}
			return d.note(ctx)
		case refused:
			d.Off, d.Cursor = said.text, p.upTo
			count(d.Kind, switchedOff)
			d.Log.WarnContext(ctx, "an announcement was switched off, because its webhook is gone; its managers see that in the settings", "guild", d.Guild, "announcement", d.ID, "status", said.status)
			return d.note(ctx)
		case wrong:
			tries = mostTries
		}
		if tries >= mostTries {
			d.Cursor = p.upTo
			count(d.Kind, dropped)
			return d.note(ctx)
		}
		count(d.Kind, retried)
		if err := d.note(ctx); err != nil {
			return err
		}
		wait := said.wait
		if said.verdict == failed {
			wait = d.firstWait << (tries - 1)
			wait += rand.N(wait / 4)
			tries++
		}
		if !pause.For(ctx, min(wait, oldest)) {
			return ctx.Err()
		}
	}
}

// try posts once.
func (d *delivery) try(ctx context.Context, p post) (said, error) {
	select {
	case d.work.tries <- struct{}{}:
		defer func() { <-d.work.tries }()
	case <-ctx.Done():
		return said{}, ctx.Err()
	}
	r, err := p.make()
	if err != nil {
		return said{}, err
	}
	answer, err := d.client.Do(ctx, r)
	if ctx.Err() != nil {
		return said{}, ctx.Err()
	}
	s := judge(answer, err)
	if d.Message != "" && deletedByHand(answer) {
		d.Message, s.verdict, s.wait = "", waits, leastWait
	}
	if s.verdict == taken && p.took != nil {
		p.took(answer.Body)
	}
	return s, nil
}

// at is when an event happened.
func at(i events.ID) time.Time { return time.UnixMilli(int64(min(i.Millis, 1<<62))) }
