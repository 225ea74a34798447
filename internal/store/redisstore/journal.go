package redisstore

import (
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

// recordsOf reads the journal of an answer, and returns the id after the last entry as well; "" after none.
func recordsOf(r reply) (records []snapshot.Record, until string, err error) {
	entries, err := r.list(r.of("journal"), -1)
	for i := 0; i < len(entries) && err == nil; i++ {
		var record snapshot.Record
		var place events.ID
		if record, place, err = recordOf(entries, i); err == nil {
			place.Number++
			records, until = append(records, record), place.String()
		}
	}
	return records, until, err
}

// recordOf reads an entry of prelude/request.lua in a journal: {id, {field, value, ...}}.
func recordOf(entries reply, i int) (r snapshot.Record, place events.ID, err error) {
	entry, err := entries.list(i, 2)
	var words reply
	if err == nil {
		words, err = entry.list(1, -1)
	}
	if err != nil {
		return r, place, err
	}
	fields := map[string]string{}
	for at := 0; at+1 < len(words); at += 2 {
		name, _ := words.at(at).(string)
		fields[name], _ = words.at(at + 1).(string)
	}
	text, _ := entry.at(0).(string)
	place, err = events.ParseID(text)
	if err == nil && fields["a"] != "" {
		r.Audit, err = unpackRecord(place, fields)
	}
	if err == nil && (fields["n"] != "" || r.Audit == nil) {
		err = requestOf(&r, fields)
	}
	if err != nil {
		return r, place, fmt.Errorf("%w: an entry of a journal: %w", errReply, err)
	}
	r.At, r.Outcome, r.Rest = time.UnixMilli(int64(place.Millis)).UTC(), fields["o"], fields["p"] != ""
	for user := range strings.FieldsSeq(fields["u"]) {
		r.Users = append(r.Users, id.User(user))
	}
	return r, place, nil
}

// requestOf reads the fields of a named request.
func requestOf(r *snapshot.Record, fields map[string]string) (err error) {
	r.Rev, err = strconv.ParseInt(fields["r"], 10, 64)
	if err == nil {
		r.Name, err = digestIn(fields["n"])
	}
	if err == nil {
		r.Request, err = digestIn(fields["q"])
	}
	return err
}

// digestIn reads the output of digestText.
func digestIn(text string) (d leaderboard.Digest, err error) {
	bytes, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && copy(d[:], bytes) != len(d) {
		err = fmt.Errorf("%w: a name of %d bytes", errReply, len(bytes))
	}
	return d, err
}
