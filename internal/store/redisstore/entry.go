package redisstore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// entry is a value of the entry hash (prelude/entry.lua): fields of text with NUL between. Times are milliseconds since 1970, 0 when there is none.
type entry struct {
	count    int64
	updated  int64
	cooldown int64
	absent   bool
	gains    []period.Gain
	fresh    bool // snapshot.Row
	user     leaderboard.User
}

const (
	// entryFields counts all fields of an entry, and userFields those at its end with user data.
	entryFields = 10
	userFields  = 5

	separator = "\x00"
	// absentMark marks the entry of an absent member; the field is empty otherwise.
	absentMark = "a"
	// freshMark precedes the gains when the archive's other days belong to an earlier, deleted entry.
	freshMark = "!"
	// notNull precedes the text of a nullable field that is not null.
	notNull = "="
)

var (
	errNUL   = errors.New("user data must not hold a NUL")
	errEntry = fmt.Errorf("%w: a damaged entry", errReply)
)

// entryText returns an entry. user is the output of encodeUser.
func entryText(e entry, user string) string {
	gains := period.FormatGains(e.gains)
	if e.fresh {
		gains = freshMark + gains
	}
	absent := ""
	if e.absent {
		absent = absentMark
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return strings.Join([]string{number(e.count), number(e.updated), number(e.cooldown), absent, gains, user}, separator)
}

// parseEntry reads an entry. If it fails, damaged parts are zero.
func parseEntry(text string) (e entry, err error) {
	fields := strings.Split(text, separator)
	if len(fields) != entryFields {
		return e, fmt.Errorf("%w: it has %d fields", errEntry, len(fields))
	}
	for i, to := range []*int64{&e.count, &e.updated, &e.cooldown} {
		n, bad := strconv.ParseInt(fields[i], 10, 64)
		if bad != nil || n < 0 {
			err = fmt.Errorf("%w: %q is not a whole number", errEntry, fields[i])
			continue
		}
		*to = n
	}
	if e.absent = fields[3] == absentMark; !e.absent && fields[3] != "" {
		err = fmt.Errorf("%w: %q is not how a member is absent", errEntry, fields[3])
	}
	gains, fresh := strings.CutPrefix(fields[4], freshMark)
	days, bad := period.ParseGains(gains)
	if bad != nil {
		err = fmt.Errorf("%w: %w", errEntry, bad)
	} else {
		e.gains, e.fresh = days, fresh
	}
	user, bad := userOf(fields[entryFields-userFields:])
	if bad != nil {
		return e, bad
	}
	e.user = user
	return e, err
}

// millis and fromMillis map the zero time to 0 and back.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// encodeUser returns the fields of a user at the end of an entry.
func encodeUser(u leaderboard.User) (string, error) {
	nullable := func(s *string) string {
		if s == nil {
			return ""
		}
		return notNull + *s
	}
	text := strings.Join([]string{nullable(u.Avatar), u.Discriminator, nullable(u.GlobalName), u.Username, nullable(u.AccentColour)}, separator)
	if strings.Count(text, separator) != userFields-1 {
		return "", errNUL
	}
	return text, nil
}

// userOf reads the fields that encodeUser wrote.
func userOf(fields []string) (u leaderboard.User, err error) {
	nullable := func(field string) *string {
		if field == "" {
			return nil
		}
		text, marked := strings.CutPrefix(field, notNull)
		if !marked {
			err = fmt.Errorf("%w: %q is no nullable field", errEntry, field)
		}
		return &text
	}
	u = leaderboard.User{
		Avatar: nullable(fields[0]), Discriminator: fields[1], GlobalName: nullable(fields[2]), Username: fields[3], AccentColour: nullable(fields[4]),
	}
	if err != nil {
		return leaderboard.User{}, err
	}
	return u, nil
}
