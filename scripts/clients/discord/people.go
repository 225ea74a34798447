package discord

import (
	"maps"
	"slices"
	"testing"
)

// Say lets a member write a message.
func (s *Server) Say(userID string) {
	s.change(func() {
		said := message(userID, "")
		member := s.member(userID)
		delete(member, "user")
		said["guild_id"], said["member"] = GuildID, member
		s.dispatch("MESSAGE_CREATE", said)
	})
}

// Join lets a user join the guild.
func (s *Server) Join(userID string) {
	s.change(func() {
		s.members[userID] = []string{}
		s.dispatch("GUILD_MEMBER_ADD", s.member(userID))
	})
}

// Leave lets a member leave the guild.
func (s *Server) Leave(userID string) {
	s.change(func() {
		delete(s.members, userID)
		s.dispatch("GUILD_MEMBER_REMOVE", map[string]any{"guild_id": GuildID, "user": user(userID)})
	})
}

// LoseSessions ends the sessions of all bots, which cannot resume them, and lets a member leave before they are back.
func (s *Server) LoseSessions(userID string) {
	s.change(func() {
		delete(s.members, userID)
		for g := range s.gateways {
			_ = g.conn.Close()
			delete(s.gateways, g)
		}
	})
}

// Rename renames a role.
func (s *Server) Rename(roleID, name string) {
	s.change(func() {
		renamed := role(roleID, name, 1)
		s.guild["roles"] = append(slices.DeleteFunc(slices.Clone(s.guild["roles"].([]any)), func(r any) bool { return r.(map[string]any)["id"] == roleID }), renamed)
		s.dispatch("GUILD_ROLE_UPDATE", map[string]any{"guild_id": GuildID, "role": renamed})
	})
}

const userOption = 6

// Command lets a member use a command with one option of a type, or none if the type is 0, and returns what the bot shows then.
func (s *Server) Command(t *testing.T, userID, name string, optionType int, option, value string) Reply {
	t.Helper()
	token := snowflake()
	data := map[string]any{"id": "500000000000000001", "name": name, "type": 1, "options": []any{}}
	if optionType != 0 {
		data["options"] = []any{map[string]any{"name": option, "type": optionType, "value": value}}
	}
	if optionType == userOption {
		data["resolved"] = map[string]any{"users": map[string]any{value: user(value)}}
	}
	s.change(func() {
		member := s.member(userID)
		member["permissions"] = "0"
		s.dispatch("INTERACTION_CREATE", map[string]any{
			"id": snowflake(), "application_id": BotID, "type": 2, "token": token, "version": 1, "guild_id": GuildID, "channel_id": ChannelID,
			"channel": map[string]any{"id": ChannelID, "type": 0}, "member": member, "data": data, "locale": "en-US", "guild_locale": "en-US",
			"entitlements": []any{}, "authorizing_integration_owners": map[string]any{}, "context": 0, "attachment_size_limit": 10485760,
		})
	})
	var reply Reply
	s.wait(t, "the reply to /"+name, func() bool {
		var replied bool
		reply, replied = s.replies[token]
		return replied
	})
	return reply
}

// WaitForCommands waits until the bot is connected and has these commands, sorted.
func (s *Server) WaitForCommands(t *testing.T, names ...string) {
	t.Helper()
	s.wait(t, "the bot's commands", func() bool {
		return len(s.gateways) > 0 && slices.Equal(slices.Sorted(slices.Values(s.commands)), names)
	})
}

// WaitForRoles waits until a member has these roles, sorted.
func (s *Server) WaitForRoles(t *testing.T, userID string, roles ...string) {
	t.Helper()
	s.wait(t, "roles of "+userID, func() bool { return slices.Equal(slices.Sorted(slices.Values(s.members[userID])), roles) })
}

// WaitForPost waits until the bot has written a message, and returns all of them.
func (s *Server) WaitForPost(t *testing.T) []string {
	t.Helper()
	s.wait(t, "a message of the bot", func() bool { return len(s.posted) > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posted)
}

// Roles returns the roles of every member.
func (s *Server) Roles() map[string][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.members)
}
