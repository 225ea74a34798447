package redisstore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/leaderboard"
)

// stat is a value of the stat hash: three whole numbers as text with a space between, because the embedded Redis has no
// struct and no cmsgpack. Times are milliseconds since 1970, 0 when there is none.
type stat struct {
	count    int64
	updated  int64
	cooldown int64
}

func (s stat) String() string {
	b := make([]byte, 0, 48)
	b = strconv.AppendInt(b, s.count, 10)
	b = strconv.AppendInt(append(b, ' '), s.updated, 10)
	b = strconv.AppendInt(append(b, ' '), s.cooldown, 10)
	return string(b)
}

func parseStat(text string) (stat, error) {
	count, rest, _ := strings.Cut(text, " ")
	updated, cooldown, _ := strings.Cut(rest, " ")
	var s stat
	for _, field := range []struct {
		text string
		to   *int64
	}{{count, &s.count}, {updated, &s.updated}, {cooldown, &s.cooldown}} {
		n, err := strconv.ParseInt(field.text, 10, 64)
		if err != nil || n < 0 {
			return stat{}, fmt.Errorf("%w: a stat is not three whole numbers", errReply)
		}
		*field.to = n
	}
	return s, nil
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

// A value of the user hash is a character that says which of the nullable fields are not null, then the fields with a NUL
// between, which no field holds.
const (
	userFields   = 5
	hasAvatar    = 1 << 0
	hasGlobal    = 1 << 1
	hasAccent    = 1 << 2
	userFlagBase = '0'
)

var errNUL = errors.New("user data must not hold a NUL")

func encodeUser(u leaderboard.User) (string, error) {
	flags := userFlagBase
	field := func(s *string, flag rune) string {
		if s == nil {
			return ""
		}
		flags |= flag
		return *s
	}
	fields := [userFields]string{
		field(u.Avatar, hasAvatar), u.Discriminator, field(u.GlobalName, hasGlobal), u.Username, field(u.AccentColour, hasAccent),
	}
	text := string(flags) + strings.Join(fields[:], "\x00")
	if strings.Count(text, "\x00") != userFields-1 {
		return "", errNUL
	}
	return text, nil
}

// decodeUser reads what encodeUser wrote; the empty text, of a member whose user data is not known, is a User without any.
func decodeUser(text string) (leaderboard.User, error) {
	if text == "" {
		return leaderboard.User{}, nil
	}
	flags := text[0] - userFlagBase
	fields := strings.Split(text[1:], "\x00")
	if len(fields) != userFields || flags > hasAvatar|hasGlobal|hasAccent {
		return leaderboard.User{}, fmt.Errorf("%w: user data is damaged", errReply)
	}
	field := func(s string, flag byte) *string {
		if flags&flag == 0 {
			return nil
		}
		return &s
	}
	return leaderboard.User{
		Avatar:        field(fields[0], hasAvatar),
		Discriminator: fields[1],
		GlobalName:    field(fields[2], hasGlobal),
		Username:      fields[3],
		AccentColour:  field(fields[4], hasAccent),
	}, nil
}
