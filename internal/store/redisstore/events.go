package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

var eventsScript = newScript("events", "loaded", "now")

// Extent implements events.Log.
func (s *Store) Extent(ctx context.Context, g leaderboard.GuildRef) (events.Extent, error) {
	k := keysOf(g.ID)
	r, err := s.run(ctx, eventsScript, []string{k.meta(), k.events(g.Incarnation)}, int64(g.Incarnation), g.Hidden)
	if err != nil {
		return events.Extent{}, err
	}
	x := events.Extent{Now: time.UnixMilli(r.of("now").number()), Count: r.of("count").number()}
	if x.Count > 0 {
		var bad [2]error
		x.Oldest, bad[0] = events.ParseID(r.of("oldest").text())
		x.Newest, bad[1] = events.ParseID(r.of("newest").text())
		r.keep(cmp.Or(bad[:]...))
	}
	return x, r.done("events")
}

// ReadEvents implements events.Log, in one round trip to each server.
func (s *Store) ReadEvents(ctx context.Context, from []events.Cursor, limit int64) ([][]events.Entry, error) {
	cmds, marks := make([]*redis.XMessageSliceCmd, len(from)), make([]*redis.SliceCmd, len(from))
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, c := range from {
			k := keysOf(c.Guild.ID)
			cmds[i] = p.XRangeN(ctx, k.events(c.Guild.Incarnation), "("+c.After.String(), "+", limit)
			marks[i] = p.HMGet(ctx, k.meta(), "incarnation", "marked")
		}
		return nil
	})
	if slices.Contains(cmds, nil) || slices.Contains(marks, nil) {
		return nil, fmt.Errorf("redis: read events: %w", err)
	}
	read, unread := make([][]events.Entry, len(from)), distinctErrors{}
	for i := range from {
		entries, err := entriesOf(cmds[i], marks[i], from[i])
		if err != nil {
			unread.add(err)
			continue
		}
		read[i] = entries
	}
	return read, wrap("read events", unread.join())
}

// entriesOf reads the entries after a cursor, and fails when some of them are missing.
func entriesOf(cmd *redis.XMessageSliceCmd, marks *redis.SliceCmd, from events.Cursor) (entries []events.Entry, err error) {
	messages, err := cmd.Result()
	if err != nil {
		return nil, err
	}
	meta, err := marks.Result()
	if err != nil {
		return nil, err
	}
	for _, message := range messages {
		entry, err := entryOfEvent(message)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	mark, there := markOf(meta, from.Guild)
	if there && mark.Compare(from.After) > 0 && (len(entries) == 0 || mark.Compare(entries[0].ID) < 0) {
		entries = slices.Insert(entries, 0, events.Entry{ID: mark, Reset: events.Lost})
	}
	return entries, nil
}

// markOf returns the id of the mark that a load left in meta because the log was empty (commit_hydration.lua).
func markOf(meta []any, g leaderboard.GuildRef) (mark events.ID, there bool) {
	if len(meta) != 2 || meta[0] != strconv.FormatInt(int64(g.Incarnation), 10) {
		return mark, false
	}
	text, _ := meta[1].(string)
	var err error
	mark.Millis, err = strconv.ParseUint(text, 10, 64)
	return mark, err == nil
}

// entryOfEvent reads an event of prelude/event.lua or evict.lua. An unreadable entry counts as a lost event.
func entryOfEvent(message redis.XMessage) (e events.Entry, err error) {
	if e.ID, err = events.ParseID(message.ID); err != nil {
		return e, err
	}
	if _, left := message.Values["e"]; left {
		return e, nil // the guild was not loaded for a while, and nothing was lost
	}
	text := func(field string) string { s, _ := message.Values[field].(string); return s }
	e.Hidden = text("h") != ""
	if e.Period = text("p"); e.Period != "" {
		return e, nil
	}
	if out := text("o"); out != "" {
		e.User, e.Moved = id.User(out), events.Removed
		return e, nil
	}
	switch reason := events.Reason(text("r")); reason {
	case events.Settings, events.Imported, events.Restored, events.Cleared:
		e.Reset = reason
		return e, nil
	}
	if in := text("i"); in != "" {
		xp, err := strconv.ParseInt(text("a"), 10, 64)
		e.User, e.Moved, e.After = id.User(in), events.Returned, level.XP(xp)
		if err != nil {
			return events.Entry{ID: e.ID, Reset: events.Lost}, nil
		}
		return e, nil
	}
	before, errBefore := strconv.ParseInt(text("b"), 10, 64)
	after, errAfter := strconv.ParseInt(text("a"), 10, 64)
	if text("u") == "" || errBefore != nil || errAfter != nil {
		e.Reset = events.Lost
		return e, nil
	}
	e.User, e.Before, e.After = id.User(text("u")), level.XP(before), level.XP(after)
	e.Channel, e.Silent = id.Channel(text("c")), text("s") != ""
	return e, nil
}
