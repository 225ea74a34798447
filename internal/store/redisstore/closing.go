package redisstore

import (
	"context"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

var (
	momentScript   = newScript("moment", "now")
	announceScript = newScript("announce", "loaded", "event")
)

// held maps the answers of moment.lua.
var held = []periods.Holds{periods.HoldsNothing, periods.Unverified, periods.InUse}

// Moment implements periods.Live.
func (s *Store) Moment(ctx context.Context, g id.Guild) (m periods.Moment, err error) {
	r, err := s.run(ctx, momentScript, []string{keysOf(g).meta()})
	if err != nil {
		return m, err
	}
	var now, is, incarnation int64
	if err = r.named(named{"now", &now}, named{"state", &is}); err == nil {
		m.Holds, err = oneOf(held, is)
	}
	if err == nil && m.Holds != periods.HoldsNothing {
		err = r.named(named{"incarnation", &incarnation}, named{"epoch", &m.Epoch}, named{"rev", &m.Rev}, named{"doubt", &m.Doubt})
	}
	m.At, m.Incarnation = time.UnixMilli(now), guild.Incarnation(incarnation)
	return m, wrap("moment", err)
}

// Boards implements hydrate.Live.
func (s *Store) Boards(ctx context.Context, g id.Guild) (boards string, now time.Time, err error) {
	r, err := s.run(ctx, momentScript, []string{keysOf(g).meta()})
	if err != nil {
		return "", now, err
	}
	var at int64
	if err = r.named(named{"now", &at}); err == nil {
		boards, _, err = r.text(r.of("boards"))
	}
	return boards, time.UnixMilli(at), wrap("moment", err)
}

// Announce implements periods.Live.
func (s *Store) Announce(ctx context.Context, g leaderboard.GuildRef, text []byte) error {
	return s.announce(ctx, g, "p", string(text))
}

// AnnounceReset implements periods.Live.
func (s *Store) AnnounceReset(ctx context.Context, g leaderboard.GuildRef, why events.Reason) error {
	return s.announce(ctx, g, "r", string(why))
}

func (s *Store) announce(ctx context.Context, g leaderboard.GuildRef, field, text string) error {
	k := keysOf(g.ID)
	_, err := s.run(ctx, announceScript, []string{k.meta(), k.events(g.Incarnation)}, int64(g.Incarnation), g.Hidden, field, text)
	s.noteChanged(g.ID, err)
	return err
}
