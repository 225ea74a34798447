package redisstore

import (
	"cmp"
	"context"
	"time"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// Store is a leaderboard.Board, a snapshot.Live, a hydrate.Live, an events.Log, an audit.Live and a signin.Store on Redis. It is safe for concurrent
// use and holds no state of a guild.
type Store struct {
	client  *redisconn.Client
	changed *snapshot.Notes // the guilds that this process changed, for the index
	sieves  sieves
	onceTTL time.Duration
}

// Options configure a Store.
type Options struct {
	OnceTTL time.Duration // how long the record of a named request is kept, in whole milliseconds; 0 is leaderboard.OnceTTL
}

// New returns a Store on a client. The caller closes the client.
func New(client *redisconn.Client, o Options) *Store {
	s := &Store{client: client, sieves: newSieves(), onceTTL: cmp.Or(o.OnceTTL, leaderboard.OnceTTL)}
	s.changed = snapshot.NewNotes(s.noteGuilds, 0)
	return s
}

// Nudge tells every replica to read the archive's log of changes now. Replicas also read it from time to time by themselves, so a lost nudge
// does no harm.
func (s *Store) Nudge(ctx context.Context) error {
	return wrap("nudge", s.client.Publish(ctx, changesChannel, "").Err())
}

// Nudges listens for nudges, this replica's own included, until ctx ends, and then closes the channel. It merges nudges that were not received
// yet. It reconnects by itself, and sends a nudge for each new connection, since it may have missed some.
func (s *Store) Nudges(ctx context.Context) <-chan struct{} {
	nudges := make(chan struct{}, 1)
	go func() {
		defer close(nudges)
		sub := s.client.Subscribe(ctx, changesChannel)
		defer func() { _ = sub.Close() }()
		messages := sub.ChannelWithSubscriptions()
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-messages:
				if !ok {
					return
				}
				select {
				case nudges <- struct{}{}:
				default:
				}
			}
		}
	}()
	return nudges
}
