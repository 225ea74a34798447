package redisstore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/domain/period"
	"levelboard/internal/usecase/leaderboard"
)

// entry is a value of the entry hash: three whole numbers as text, because the embedded Redis has no struct and no cmsgpack,
// right after them the gains by day, if there are any (prelude/counting.lua), then the user data, unless it is not known, with a space between.
// Times are milliseconds since 1970, 0 when there is none. Before all that, of a member that is not present, a minus and the XP, with a space
// behind: such a member has no score.
type entry struct {
	absent   bool
	xp       level.XP // when absent
	count    int64
	updated  int64
	cooldown int64
	gains    []period.Gain
	fresh    bool   // snapshot.Row
	user     string // see encodeUser
}

func (e entry) String() string {
	b := make([]byte, 0, 64+len(e.user))
	if e.absent {
		b = append(strconv.AppendInt(append(b, absentMark...), int64(e.xp), 10), ' ')
	}
	b = strconv.AppendInt(b, e.count, 10)
	b = strconv.AppendInt(append(b, ' '), e.updated, 10)
	b = strconv.AppendInt(append(b, ' '), e.cooldown, 10)
	if e.fresh || len(e.gains) > 0 {
		b = append(b, ';')
		if e.fresh {
			b = append(b, '!')
		}
		b = append(b, period.FormatGains(e.gains)...)
	}
	if e.user != "" {
		b = append(append(b, ' '), e.user...)
	}
	return string(b)
}

const absentMark = "-"

func parseEntry(text string) (entry, error) {
	var e entry
	if rest, absent := strings.CutPrefix(text, absentMark); absent {
		number, rest, _ := strings.Cut(rest, " ")
		xp, err := strconv.ParseUint(number, 10, 64)
		if err != nil || checkXP(level.XP(min(xp, 1<<62))) != nil {
			return entry{}, fmt.Errorf("%w: the entry of a member that is not present does not begin with its XP", errReply)
		}
		e.absent, e.xp, text = true, level.XP(xp), rest
	}
	for i, to := range []*int64{&e.count, &e.updated, &e.cooldown} {
		number, rest, found := strings.Cut(text, " ")
		if cooldown, gains, counted := strings.Cut(number, ";"); i == 2 && counted {
			number = cooldown
			var err error
			gains, e.fresh = strings.CutPrefix(gains, "!")
			if e.gains, err = period.ParseGains(gains); err != nil {
				return entry{}, fmt.Errorf("%w: the gains of an entry: %w", errReply, err)
			}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || (i < 2 && !found) || (found && rest == "") {
			return entry{}, fmt.Errorf("%w: an entry does not begin with three whole numbers", errReply)
		}
		*to, text = n, rest
	}
	e.user = text
	return e, nil
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

// User data is a character that says which of the nullable fields are not null and whether the avatar is packed; then, if it
// is, the 16 bytes that its 32 hexadecimal digits stand for; then the fields with a NUL between, which no field holds.
const (
	userFields   = 5
	hasAvatar    = 1 << 0
	hasGlobal    = 1 << 1
	hasAccent    = 1 << 2
	packedAvatar = 1 << 3
	animated     = 1 << 4 // what is packed had "a_" before it
	userFlagBase = '0'

	animatedPrefix = "a_"
)

var (
	errNUL      = errors.New("user data must not hold a NUL")
	errUserData = fmt.Errorf("%w: user data is damaged", errReply)
)

func encodeUser(u leaderboard.User) (string, error) {
	var flags byte
	field := func(s *string, flag byte) string {
		if s == nil {
			return ""
		}
		flags |= flag
		return *s
	}
	fields := [userFields]string{
		field(u.Avatar, hasAvatar), u.Discriminator, field(u.GlobalName, hasGlobal), u.Username, field(u.AccentColour, hasAccent),
	}
	var avatar [avatarBytes]byte
	digits, moves := strings.CutPrefix(fields[0], animatedPrefix)
	packed := packAvatar(&avatar, digits)
	if packed {
		fields[0] = ""
		flags |= packedAvatar
		if moves {
			flags |= animated
		}
	}
	text := strings.Join(fields[:], "\x00")
	if strings.Count(text, "\x00") != userFields-1 {
		return "", errNUL
	}
	if packed {
		return string(rune(userFlagBase+flags)) + string(avatar[:]) + text, nil
	}
	return string(rune(userFlagBase+flags)) + text, nil
}

// avatarBytes is how many bytes the hash of an avatar has.
const avatarBytes = 16

// packAvatar reports whether the digits are those of a hash, as they are written when its bytes are turned into digits again.
func packAvatar(to *[avatarBytes]byte, digits string) bool {
	if len(digits) != 2*avatarBytes || strings.Trim(digits, "0123456789abcdef") != "" {
		return false
	}
	_, err := hex.Decode(to[:], []byte(digits))
	return err == nil
}

// decodeUser reads what encodeUser wrote; the empty text, of a member whose user data is not known, is a User without any.
func decodeUser(text string) (leaderboard.User, error) {
	if text == "" {
		return leaderboard.User{}, nil
	}
	flags, text := text[0]-userFlagBase, text[1:]
	var avatar string
	if flags&packedAvatar != 0 {
		if len(text) < avatarBytes {
			return leaderboard.User{}, errUserData
		}
		avatar, text = hex.EncodeToString([]byte(text[:avatarBytes])), text[avatarBytes:]
		if flags&animated != 0 {
			avatar = animatedPrefix + avatar
		}
	}
	fields := strings.Split(text, "\x00")
	if len(fields) != userFields || !goodFlags(flags) || (avatar != "" && fields[0] != "") {
		return leaderboard.User{}, errUserData
	}
	if avatar != "" {
		fields[0] = avatar
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

// goodFlags reports whether encodeUser writes such flags: only an avatar that is there is packed, and only a packed one moves.
func goodFlags(flags byte) bool {
	switch flags & (hasAvatar | packedAvatar | animated) {
	case 0, hasAvatar, hasAvatar | packedAvatar, hasAvatar | packedAvatar | animated:
		return flags < animated<<1
	}
	return false
}
