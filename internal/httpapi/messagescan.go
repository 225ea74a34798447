package httpapi

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
)

// maxText is the longest string of user data, in bytes.
const maxText = 256

// leastMessage is about how many bytes a short message takes, to know beforehand how many there may be.
const leastMessage = 70

// scanMessages reads a body of messages as nearly every client writes it, in a small part of the time that decodeMessages
// takes: a busy bot's messages are most of what the service reads. It accepts nothing that decodeMessages refuses and reads
// the same out of it. Whatever it is not sure about, it leaves to decodeMessages, which also has the words for it.
func scanMessages(sent []byte) ([]leaderboard.Message, bool) {
	if !utf8.Valid(sent) {
		return nil, false
	}
	s := messageScan{rest: string(sent)}
	messages := make([]leaderboard.Message, 0, min(len(sent)/leastMessage+1, maxMessages))
	if name, ok := s.begin(); !ok || name != "messages" || !s.is('[') {
		return nil, false
	}
	for !s.is(']') {
		if len(messages) == maxMessages || len(messages) > 0 && !s.is(',') {
			return nil, false
		}
		messages = append(messages, leaderboard.Message{})
		if !s.message(&messages[len(messages)-1]) {
			return nil, false
		}
	}
	ended := s.is('}') && s.space() == ""
	return messages, ended && len(messages) > 0
}

// messageScan is a place in a text. Each of its methods reads on from there, and says whether it was sure.
type messageScan struct {
	rest  string
	roles []id.Role // of all messages; each has a part of it
}

// The properties, as bits of what was seen.
const (
	hasUserID = 1 << iota
	hasChannelID
	hasParentChannelID
	hasRoleIDs
	hasUser
)

const (
	hasAvatar = 1 << iota
	hasDiscriminator
	hasUsername
	hasGlobalName
)

func (s *messageScan) message(m *leaderboard.Message) bool {
	seen := 0
	name, ok := s.begin()
	for more := ok; more; name, more = s.next() {
		var property int
		switch name {
		case "userId":
			property = hasUserID
			m.UserID, ok = scanID[id.User](s)
		case "channelId":
			property = hasChannelID
			m.Channel, ok = scanID[id.Channel](s)
		case "parentChannelId":
			property = hasParentChannelID
			if !s.null() {
				m.Parent, ok = scanID[id.Channel](s)
			}
		case "roleIds":
			property = hasRoleIDs
			m.Roles, ok = s.roleIDs()
		case "user":
			property = hasUser
			m.Data, ok = s.user()
		}
		if !ok || property == 0 || seen&property != 0 {
			return false
		}
		seen |= property
	}
	const required = hasUserID | hasChannelID
	return seen&required == required && s.is('}')
}

func (s *messageScan) roleIDs() ([]id.Role, bool) {
	if !s.is('[') {
		return nil, false
	}
	begin := len(s.roles)
	for !s.is(']') {
		n := len(s.roles) - begin
		if n == maxRoles || n > 0 && !s.is(',') {
			return nil, false
		}
		role, ok := scanID[id.Role](s)
		if !ok {
			return nil, false
		}
		s.roles = append(s.roles, role)
	}
	end := len(s.roles)
	return s.roles[begin:end:end], true
}

func (s *messageScan) user() (*leaderboard.User, bool) {
	u, seen := new(leaderboard.User), 0
	name, ok := s.begin()
	for more := ok; more; name, more = s.next() {
		var property int
		switch name {
		case "avatar":
			property = hasAvatar
			u.Avatar, ok = s.textOrNull()
			ok = ok && (u.Avatar == nil || validAvatar(*u.Avatar))
		case "discriminator":
			property = hasDiscriminator
			u.Discriminator, ok = s.text()
		case "username":
			property = hasUsername
			u.Username, ok = s.text()
		case "globalName":
			property = hasGlobalName
			u.GlobalName, ok = s.textOrNull()
		}
		if !ok || property == 0 || seen&property != 0 {
			return nil, false
		}
		seen |= property
	}
	const required = hasAvatar | hasDiscriminator | hasUsername
	return u, seen&required == required && s.is('}')
}

// begin reads the beginning of an object up to its first value.
func (s *messageScan) begin() (name string, ok bool) {
	if !s.is('{') {
		return "", false
	}
	return s.name()
}

// next reads from the end of a value to the next one in the same object. Where there is no comma, it reads nothing and says
// that there is no more. After one there must be more: what is no name is given as an empty one, which no property has.
func (s *messageScan) next() (name string, more bool) {
	if !s.is(',') {
		return "", false
	}
	if name, ok := s.name(); ok {
		return name, true
	}
	return "", true
}

func (s *messageScan) name() (string, bool) {
	name, ok := s.quoted()
	return name, ok && s.is(':')
}

func scanID[T id.User | id.Channel | id.Role](s *messageScan) (T, bool) {
	text, ok := s.quoted()
	return T(text), ok && id.Valid(text)
}

// quoted reads to the next quotation mark. What is between is what the string holds, unless it has an escape or a character
// that must be escaped; so it is for strings that are compared to something without either.
func (s *messageScan) quoted() (string, bool) {
	if !s.is('"') {
		return "", false
	}
	end := strings.IndexByte(s.rest, '"')
	if end < 0 {
		return "", false
	}
	text := s.rest[:end]
	s.rest = s.rest[end+1:]
	return text, true
}

func (s *messageScan) textOrNull() (*string, bool) {
	if s.null() {
		return nil, true
	}
	text, ok := s.text()
	return &text, ok
}

// text reads a string of user data.
func (s *messageScan) text() (string, bool) {
	if !s.is('"') {
		return "", false
	}
	for i := range len(s.rest) {
		switch c := s.rest[i]; {
		case c == '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text, i <= maxText
		case c == '\\':
			return s.escaped(i)
		case c < ' ' || i > maxText:
			return "", false
		}
	}
	return "", false
}

// escaped reads a string whose first escape is at i.
func (s *messageScan) escaped(i int) (string, bool) {
	for ; i < len(s.rest) && s.rest[i] != '"'; i++ {
		if s.rest[i] == '\\' {
			i++
		}
	}
	if i >= len(s.rest) {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, `"`+s.rest[:i+1])
	s.rest = s.rest[i+1:]
	return string(text), err == nil && len(text) <= maxText && !strings.ContainsRune(string(text), 0)
}

func (s *messageScan) null() bool {
	rest, ok := strings.CutPrefix(s.space(), "null")
	if ok {
		s.rest = rest
	}
	return ok
}

// is reads c, if it comes next.
func (s *messageScan) is(c byte) bool {
	if len(s.rest) > 0 && s.rest[0] == c {
		s.rest = s.rest[1:]
		return true
	}
	rest := s.space()
	if rest == "" || rest[0] != c {
		return false
	}
	s.rest = rest[1:]
	return true
}

// space reads white space, and returns what remains.
func (s *messageScan) space() string {
	i := 0
	for i < len(s.rest) && (s.rest[i] == ' ' || s.rest[i] == '\n' || s.rest[i] == '\t' || s.rest[i] == '\r') {
		i++
	}
	s.rest = s.rest[i:]
	return s.rest
}
