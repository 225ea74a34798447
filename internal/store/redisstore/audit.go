package redisstore

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/events"
)

var readAuditScript = newScript("read_audit", "now")

// entryWords is the number of words in the output of packEntry.
const entryWords = 8

// packEntry returns an entry for scripts to put into a journal: words separated by NUL, which no word contains since the archive cannot store it.
func packEntry(e *audit.Entry) string {
	count := ""
	if e.Count != nil {
		count = strconv.FormatInt(*e.Count, 10)
	}
	by := e.By
	words := []string{string(e.Action), string(e.UserID), count, string(by.Actor.Kind), by.Actor.ID, by.Actor.Name, by.Reason, by.RequestID}
	for i, word := range words {
		words[i] = strings.ReplaceAll(strings.ToValidUTF8(word, "\uFFFD"), "\x00", "")
	}
	return strings.Join(words, "\x00")
}

// unpackRecord reads an entry of a journal with the output of packEntry.
func unpackRecord(place events.ID, fields map[string]string) (*audit.Record, error) {
	words := strings.Split(fields["a"], "\x00")
	if len(words) != entryWords || place.Millis > math.MaxInt64 || place.Number > math.MaxInt64 {
		return nil, fmt.Errorf("%w: %d words about a change", errReply, len(words))
	}
	r := &audit.Record{ID: audit.ID{Millis: int64(place.Millis), Number: int64(place.Number)}}
	r.Action, r.UserID = audit.Action(words[0]), id.User(words[1])
	if words[2] != "" {
		count, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			return nil, err
		}
		r.Count = &count
	}
	r.By = audit.By{Actor: audit.Actor{Kind: audit.Kind(words[3]), ID: words[4], Name: words[5]}, Reason: words[6], RequestID: words[7]}
	for field, to := range map[string]*jsontext.Value{"b": &r.Before, "c": &r.After} {
		if text := fields[field]; text != "" {
			n, ok := wholeNumber(text)
			if !ok {
				return nil, fmt.Errorf("%w: an amount of XP", errReply)
			}
			*to = jsontext.Value(strconv.FormatInt(n, 10))
		}
	}
	return r, nil
}

// AuditJournal implements audit.Live.
func (s *Store) AuditJournal(ctx context.Context, g id.Guild, of guild.Incarnation, before audit.ID) (p audit.Part, err error) {
	from := "+"
	switch {
	case before.Number > 0:
		from = audit.ID{Millis: before.Millis, Number: before.Number - 1}.String()
	case before.Millis > 0:
		from = strconv.FormatInt(before.Millis-1, 10)
	}
	r, err := s.run(ctx, readAuditScript, []string{keysOf(g).meta(), keysOf(g).journal()}, int64(of), from, journalPart)
	if err != nil || r.size() == 0 {
		return p, err
	}
	entries := r.of("journal")
	for i := range entries.size() {
		record, place := recordOf(entries.at(i))
		if record.Audit != nil {
			p.Records = append(p.Records, *record.Audit)
		}
		p.Until = audit.ID{Millis: int64(place.Millis), Number: int64(place.Number)}
	}
	p.Now, p.More = time.UnixMilli(r.of("now").number()), entries.size() == journalPart
	return p, r.done("read the audit journal")
}

// journalPart is how many entries of a journal one step reads. That takes the server about a millisecond.
const journalPart = 500
