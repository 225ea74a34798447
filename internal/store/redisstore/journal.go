package redisstore

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// recordsOf reads the journal of an answer. until is the id after the last entry, "" without entries.
func recordsOf(r reply) (records []snapshot.Record, until string) {
	entries := r.of("journal")
	for i := range entries.size() {
		record, place := recordOf(entries.at(i))
		place.Number++
		records, until = append(records, record), place.String()
	}
	return records, until
}

// recordOf reads an entry of prelude/request.lua in a journal: {id, {field, value, ...}}.
func recordOf(entry reply) (r snapshot.Record, place events.ID) {
	words, fields := entry.sized(2).at(1).texts(), map[string]string{}
	for pair := range slices.Chunk(words, 2) {
		fields[pair[0]] = pair[len(pair)-1]
	}
	place, err := events.ParseID(entry.at(0).text())
	if err == nil && fields["a"] != "" {
		r.Audit, err = unpackRecord(place, fields)
	}
	if err == nil && (fields["n"] != "" || r.Audit == nil) {
		err = requestOf(&r, fields)
	}
	if err != nil {
		entry.keep(fmt.Errorf("%w: an entry of a journal: %w", errReply, err))
	}
	r.At, r.Outcome, r.Rest = time.UnixMilli(int64(place.Millis)).UTC(), fields["o"], fields["p"] != ""
	for user := range strings.FieldsSeq(fields["u"]) {
		r.Users = append(r.Users, id.User(user))
	}
	return r, place
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
