package announce

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

const (
	// Every sweepLooks-th look is at all announcements, in case a replica was killed before it noted an event. Every boardLooks-th is at all
	// boards too, since periods end.
	sweepLooks, boardLooks = 60, 600
	// readAtOnce is how many announcements, or how many guilds' announcements, are read at once.
	readAtOnce = 500
	lookTime   = 30 * time.Second
)

// Changed schedules a look at a guild whose settings have changed.
func (a *Announcer) Changed(g id.Guild) { a.lookAt(g, time.Now()) }

// Run posts while this process holds the lease, until ctx ends.
func (a *Announcer) Run(ctx context.Context) {
	defer a.client.Close()
	for on := true; on; on = pause.For(ctx, a.every) {
		if l, held := a.Lease(); held {
			a.serve(ctx, l)
		}
		a.takeDue() // the lease's holder looks at them
	}
}

// serve posts under a lease until that is lost, or ctx ends.
func (a *Announcer) serve(ctx context.Context, l lease.Lease) {
	t := &term{Announcer: a, lease: l, busy: map[Key]bool{}}
	defer t.working.Wait()
	ctx, end := context.WithCancel(ctx)
	defer end()
	pause.Again(ctx, func() time.Duration { return a.every }, func(ctx context.Context) error {
		if now, held := a.Lease(); held && now.Fence == l.Fence {
			return t.look(ctx)
		}
		end()
		return nil
	}, func(err error) {
		a.Log.WarnContext(ctx, "announcements cannot be posted; they are retried, and dropped after 15 minutes: check Redis and the archive", "error", err)
	})
}

// term is the time in which this process holds a lease.
type term struct {
	*Announcer
	lease   lease.Lease
	working sync.WaitGroup
	looks   int // since the last one that failed

	looking sync.Mutex   // held during a look; guards busy
	busy    map[Key]bool // announcements that are being delivered
}

// lookAt schedules a look at a guild, unless an earlier one is scheduled.
func (a *Announcer) lookAt(g id.Guild, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if other, there := a.due[g]; !there || at.Before(other) {
		a.due[g] = at
	}
}

// takeDue removes and returns the guilds whose look is due.
func (a *Announcer) takeDue() (guilds []id.Guild) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for g, at := range a.due {
		if !time.Now().Before(at) {
			guilds = append(guilds, g)
			delete(a.due, g)
		}
	}
	return guilds
}

// look starts the announcements of guilds that are due, and now and then all others that have something to post.
func (t *term) look(ctx context.Context) error {
	reading, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	t.looking.Lock()
	defer t.looking.Unlock()
	eventful, err := t.Live.TakeEventful(reading)
	for part := range slices.Chunk(append(t.takeDue(), eventful...), readAtOnce) {
		states, failed := t.Archive.AnnouncementStates(reading, part)
		for _, s := range states {
			t.start(ctx, s)
		}
		err = errors.Join(err, failed)
	}
	if err == nil && t.looks%sweepLooks == 0 {
		err = t.sweep(ctx, reading)
	}
	if t.looks++; err != nil {
		t.looks = 0 // the guilds that were taken are known nowhere else, so the next look is at all of them
	}
	return err
}

// sweep starts all announcements with events after their cursor, and now and then all boards.
func (t *term) sweep(ctx, reading context.Context) error {
	for after := (Key{}); ; {
		page, err := t.Archive.AnnouncementsOn(reading, after, readAtOnce)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Key
		from := make([]events.Cursor, len(page))
		for i, s := range page {
			from[i] = events.Cursor{Guild: leaderboard.GuildRef{ID: s.Guild, Incarnation: s.Incarnation}, After: s.Cursor}
		}
		read, err := t.Live.ReadEvents(reading, from, 1)
		for i, entries := range read {
			if page[i].Kind == announcement.Board && t.looks%boardLooks == 0 || page[i].Kind != announcement.Board && len(entries) > 0 {
				t.start(ctx, page[i])
			}
		}
		if err != nil {
			return err
		}
	}
}

// start posts an announcement in a goroutine. While one is running, it schedules another look at the guild instead.
func (t *term) start(ctx context.Context, s State) {
	switch {
	case s.Off != "" || s.Kind == announcement.Bot:
	case t.busy[s.Key]:
		t.lookAt(s.Guild, time.Now().Add(t.every))
	default:
		t.busy[s.Key] = true
		t.working.Go(func() {
			t.deliver(ctx, s)
			t.looking.Lock() // a look may have read the state from before this delivery
			defer t.looking.Unlock()
			delete(t.busy, s.Key)
		})
	}
}
