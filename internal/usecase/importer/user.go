package importer

import (
	"strings"
	"unicode/utf8"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/leaderboard"
)

// maxName is the maximum size of a name or discriminator, in bytes.
const maxName = 256

// user returns the valid user data of a file, or nil if there is none.
func (f *fileReader) user(u leaderboard.User) *leaderboard.User {
	unfit := false
	if u.Avatar != nil && *u.Avatar == "" {
		u.Avatar = nil
	}
	if u.Avatar != nil && !guild.ValidHash(*u.Avatar) {
		u.Avatar, unfit = nil, true
	}
	if u.GlobalName != nil && !validName(*u.GlobalName) {
		u.GlobalName, unfit = nil, true
	}
	if !validName(u.Username) {
		u.Username, unfit = "", true
	}
	if !validName(u.Discriminator) {
		u.Discriminator, unfit = "", true
	}
	if unfit {
		f.unfit++
	}
	if u == (leaderboard.User{}) {
		return nil
	}
	return &u
}

func validName(s string) bool {
	return len(s) <= maxName && !strings.ContainsRune(s, 0) && utf8.ValidString(s)
}

// tagged returns the user data of a tag: a name, or an old name with its discriminator, such as old_lantern#4410.
func tagged(tag string, avatar *string) leaderboard.User {
	if tag == "" {
		return leaderboard.User{Avatar: avatar}
	}
	u := leaderboard.User{Username: tag, Discriminator: "0", Avatar: avatar}
	if i := strings.LastIndexByte(tag, '#'); i > 0 {
		if d := tag[i+1:]; d == "0" || len(d) == 4 && isDigits(d) {
			u.Username, u.Discriminator = tag[:i], d
		}
	}
	return u
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
