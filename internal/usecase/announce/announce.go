// Package announce posts what a guild announces: level-ups, winners, events as signed webhooks, and a board that stays current. One replica
// does, the holder of the snapshot writer's lease. It reads each guild's log of events from a cursor in the archive, which it moves after what
// was posted, so each event is posted at least once. Nothing waits for it: not changes, not the stream of events, not other guilds.
package announce

import (
	"context"
	"crypto/tls"
	"log/slog"
	"sync"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/platform/outbound"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

// Key names an announcement.
type Key struct {
	Guild id.Guild
	ID    string
}

// State is the progress of an announcement.
type State struct {
	Key
	Kind        announcement.Kind
	Incarnation guild.Incarnation // of the guild
	// Version rises whenever the announcement begins again from now: with another URL or kind, or when it is switched on.
	Version   int64
	Cursor    events.ID // the last event that was handled
	Secret    []byte    // signs the posts of a webhook
	Off       string    // why it is off; empty while it is on
	LastSent  time.Time // zero: never
	LastError string    // of the last try; empty after a success
	Message   string    // the id of a board's message
	Shown     string    // a digest of its text
}

// ErrUnknown is the archive's fault when there is no such announcement, or when it began again or was switched off since its state was read.
var ErrUnknown = fault.New(fault.NotFound, "This guild has no announcement with this id. Read the ids in its settings.")

// Archive is what is needed of Postgres or SQLite.
type Archive interface {
	// AnnouncementStates reads the states of all announcements of guilds.
	AnnouncementStates(ctx context.Context, guilds []id.Guild) ([]State, error)
	// AnnouncementsOn reads the states of those that are on and that this package posts, by key, after one, at most limit.
	AnnouncementsOn(ctx context.Context, after Key, limit int) ([]State, error)
	// NoteAnnouncement writes Cursor, Off, LastSent, LastError, Message and Shown. lease.ErrLost; ErrUnknown.
	NoteAnnouncement(ctx context.Context, l lease.Lease, s State) error
	// NoteBoardMessage writes Message and Shown of a board that was edited without the lease. ErrUnknown.
	NoteBoardMessage(ctx context.Context, s State) error
	// SetAnnouncementSecret writes what signs the posts of a webhook. ErrUnknown.
	SetAnnouncementSecret(ctx context.Context, k Key, secret []byte) error
	// SwitchAnnouncementOn makes an announcement begin again from now. ErrUnknown.
	SwitchAnnouncementOn(ctx context.Context, k Key) error
}

// Live is what is needed of the live store.
type Live interface {
	ReadEvents(ctx context.Context, from []events.Cursor, limit int64) ([][]events.Entry, error)
	// TakeEventful returns the guilds that something happened in, and forgets them.
	TakeEventful(ctx context.Context) ([]id.Guild, error)
}

// Board reads members. Its errors are faults.
type Board interface {
	View(ctx context.Context, g *guild.Guild, look leaderboard.Look) (leaderboard.View, error)
	Standings(ctx context.Context, g *guild.Guild, p period.Period, offset, limit int64) (leaderboard.Standings, error)
}

// Deps are what an Announcer needs. Only Trust is optional.
type Deps struct {
	Archive Archive
	Live    Live
	ByID    func(ctx context.Context, g id.Guild) (*guild.Guild, error) // the settings; its errors are faults
	Board   Board
	Lease   func() (lease.Lease, bool) // of this process, if it is held
	Hosts   outbound.Hosts
	Trust   *tls.Config // for webhooks whose certificates the system does not know
	Log     *slog.Logger
}

// Announcer posts, and does what managers ask of announcements. It is safe for concurrent use.
type Announcer struct {
	Deps
	client *outbound.Client
	every  time.Duration // how often it looks, and the first wait between two tries; shorter in tests

	mu  sync.Mutex             // guards due
	due map[id.Guild]time.Time // when to look at each guild
}

// New returns an Announcer; Run makes it post.
func New(d Deps) *Announcer {
	return &Announcer{Deps: d, client: outbound.New(d.Hosts, d.Trust), every: time.Second, due: map[id.Guild]time.Time{}}
}

// find returns a guild with the settings of one of its announcements. Its errors are faults.
func (a *Announcer) find(ctx context.Context, k Key) (*guild.Guild, *announcement.Announcement, error) {
	g, err := a.ByID(ctx, k.Guild)
	if err != nil {
		return nil, nil, err
	}
	if settings := g.Announcement(k.ID); settings != nil {
		return g, settings, nil
	}
	return nil, nil, ErrUnknown
}
