package redisstore

import (
	"context"
	"time"

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
	m.At, m.Holds = time.UnixMilli(r.of("now").number()), oneOf(held, r.of("state"))
	if m.Holds != periods.HoldsNothing {
		m.Incarnation, m.Epoch = r.guild(g).Incarnation, r.of("epoch").number()
		m.Rev, m.Doubt = r.of("rev").number(), r.of("doubt").number()
	}
	return m, r.done("moment")
}

// Boards implements hydrate.Live.
func (s *Store) Boards(ctx context.Context, g id.Guild) (boards string, now time.Time, err error) {
	r, err := s.run(ctx, momentScript, []string{keysOf(g).meta()})
	if err != nil {
		return "", now, err
	}
	return r.of("boards").text(), time.UnixMilli(r.of("now").number()), r.done("moment")
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
