package redisstore

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// recordsOf reads element i, entries of a journal, and returns the id after the last one as well.
func recordsOf(r reply, i int) (records []snapshot.Record, until string, err error) {
	entries, err := r.list(i, -1)
	if err != nil {
		return nil, "", err
	}
	for i := range entries {
		entry, err := entries.list(i, 2)
		if err != nil {
			return nil, "", err
		}
		place, _ := entry.at(0).(string)
		words, err := entry.list(1, -1)
		if err != nil {
			return nil, "", err
		}
		fields := map[string]string{}
		for at := 0; at+1 < len(words); at += 2 {
			name, _ := words.at(at).(string)
			fields[name], _ = words.at(at + 1).(string)
		}
		record, err := recordOf(place, func(field string) string { return fields[field] })
		if err != nil {
			return nil, "", err
		}
		records = append(records, record)
		last, err := events.ParseID(place)
		if err != nil {
			return nil, "", fmt.Errorf("%w: an id of the journal: %w", errReply, err)
		}
		last.Number++
		until = last.String()
	}
	return records, until, nil
}

// recordOf reads what changing.lua put into a journal.
func recordOf(place string, field func(string) string) (r snapshot.Record, err error) {
	made, _, _ := strings.Cut(place, "-")
	millis, err := strconv.ParseInt(made, 10, 64)
	if err == nil {
		r.At = time.UnixMilli(millis).UTC()
		r.Rev, err = strconv.ParseInt(field("r"), 10, 64)
	}
	if err == nil {
		r.Name, err = digestIn(field("n"))
	}
	if err == nil {
		r.Request, err = digestIn(field("q"))
	}
	if err != nil {
		return r, fmt.Errorf("%w: an entry of a journal: %w", errReply, err)
	}
	r.Outcome = field("o")
	for user := range strings.FieldsSeq(field("u")) {
		r.Users = append(r.Users, id.User(user))
	}
	return r, nil
}

// digestIn reads what digestText wrote.
func digestIn(text string) (d leaderboard.Digest, err error) {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && copy(d[:], bytes) != len(d) {
		err = fmt.Errorf("%w: a name of %d bytes", errReply, len(bytes))
	}
	return d, err
}

// forgetSize is how many records of a guild one step looks at: it takes the server about a millisecond.
const forgetSize = 500

// Forget implements snapshot.Live.
func (s *Store) Forget(ctx context.Context, guilds []id.Guild) (more []id.Guild, err error) {
	keys := func(k guildKeys) []string { return []string{k.once()} }
	err = s.onEach(ctx, forgetScript, guilds, keys, func(g id.Guild, r reply, err error) error {
		if left, wrong := r.number(0); err == nil && wrong == nil && left > 0 {
			more = append(more, g)
		}
		return err
	}, leaderboard.OnceTTL.Milliseconds(), forgetSize)
	return more, err
}
