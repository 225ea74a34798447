package httpapi

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/id"
	"levelboard/internal/leaderboard"
)

// maxString is the longest string of user data, in bytes.
const maxString = 256

// leastMessage is about how many bytes a short message takes, to know beforehand how many there may be.
const leastMessage = 70

// scanMessages reads a body of messages as nearly every client writes it, in a small part of the time that decodeMessages
// takes: a busy bot's messages are most of what the service reads. It accepts nothing that decodeMessages refuses and reads
// the same out of it. Whatever it is not sure about, it leaves to decodeMessages, which also has the words for it.
func scanMessages(sent []byte) ([]leaderboard.Message, bool) {
	if !utf8.Valid(sent) {
		return nil, false
	}
	s := messageScan{text: string(sent)}
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
	ended := s.is('}') && s.space() == len(s.text)
	return messages, ended && len(messages) > 0
}

// messageScan is a place in a text. Each of its methods reads on from there, and says whether it was sure. The place is a
// number: shortening the text instead would tell the garbage collector of each step, for a third of the time.
type messageScan struct {
	text  string
	at    int
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
			u.Avatar, ok = s.stringOrNull()
			ok = ok && (u.Avatar == nil || validAvatar(*u.Avatar))
		case "discriminator":
			property = hasDiscriminator
			u.Discriminator, ok = s.string()
		case "username":
			property = hasUsername
			u.Username, ok = s.string()
		case "globalName":
			property = hasGlobalName
			u.GlobalName, ok = s.stringOrNull()
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
	length := strings.IndexByte(s.text[s.at:], '"')
	if length < 0 {
		return "", false
	}
	begin := s.at
	s.at += length + 1
	return s.text[begin : begin+length], true
}

func (s *messageScan) stringOrNull() (*string, bool) {
	if s.null() {
		return nil, true
	}
	value, ok := s.string()
	return &value, ok
}

// string reads a string of user data, as a copy: it is kept longer than the text.
func (s *messageScan) string() (string, bool) {
	if !s.is('"') {
		return "", false
	}
	begin := s.at
	for i := begin; i < len(s.text) && i <= begin+maxString; i++ {
		switch c := s.text[i]; {
		case c == '"':
			s.at = i + 1
			return strings.Clone(s.text[begin:i]), true
		case c == '\\':
			return s.escaped(i)
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped reads on in a string whose first escape is at i.
func (s *messageScan) escaped(i int) (string, bool) {
	for ; i < len(s.text) && s.text[i] != '"'; i++ {
		if s.text[i] == '\\' {
			i++
		}
	}
	if i >= len(s.text) {
		return "", false
	}
	value, err := jsontext.AppendUnquote(nil, s.text[s.at-1:i+1])
	s.at = i + 1
	return string(value), err == nil && len(value) <= maxString && !slices.Contains(value, 0)
}

func (s *messageScan) null() bool {
	if !strings.HasPrefix(s.text[s.space():], "null") {
		return false
	}
	s.at += len("null")
	return true
}

// is reads c, if it comes next.
func (s *messageScan) is(c byte) bool {
	if at := s.space(); at == len(s.text) || s.text[at] != c {
		return false
	}
	s.at++
	return true
}

// space reads white space, and returns where it ends.
func (s *messageScan) space() int {
	for s.at < len(s.text) && s.text[s.at] <= ' ' {
		switch s.text[s.at] {
		case ' ', '\n', '\t', '\r':
			s.at++
		default:
			return s.at
		}
	}
	return s.at
}
