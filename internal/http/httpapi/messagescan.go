package httpapi

import (
	"unicode/utf8"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// leastMessage is about how many bytes a short message takes, to know beforehand how many there may be.
const leastMessage = 70

// scanMessages reads a body of messages as nearly every client writes it, 2.5 times as many a second in batches of 100 as decodeMessages.
// It accepts nothing that decodeMessages refuses and reads the same; what it is not sure about it leaves to that, errors included.
func scanMessages(sent []byte) ([]leaderboard.Message, bool) {
	if !utf8.Valid(sent) {
		return nil, false
	}
	s := messageScan{bodyScan: bodyScan{text: string(sent)}}
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

// messageScan is a bodyScan of messages.
type messageScan struct {
	bodyScan
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
			m.UserID, ok = scanID[id.User](&s.bodyScan)
		case "channelId":
			property = hasChannelID
			m.Channel, ok = scanID[id.Channel](&s.bodyScan)
		case "parentChannelId":
			property = hasParentChannelID
			if !s.null() {
				m.Parent, ok = scanID[id.Channel](&s.bodyScan)
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
		role, ok := scanID[id.Role](&s.bodyScan)
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
			ok = ok && (u.Avatar == nil || guild.ValidHash(*u.Avatar))
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
