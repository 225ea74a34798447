package discord

import (
	"slices"
	"testing"
)

// message is a message as the API shows it.
func (s *Server) message(author, channelID, content string) object {
	return object{
		"id": "1", "channel_id": channelID, "author": user(author), "content": content, "timestamp": joined, "edited_timestamp": nil,
		"tts": false, "mention_everyone": false, "mentions": []any{}, "mention_roles": []any{}, "attachments": []any{}, "embeds": []any{},
		"pinned": false, "type": 0, "flags": 0, "components": []any{},
	}
}

// Say lets a member write a message in a channel, and returns its id.
func (s *Server) Say(guildID, channelID, userID string) (id string) {
	s.change(func() { id = s.id() })
	s.Deliver(guildID, channelID, userID, id, nil)
	return id
}

// Deliver sends the event of a message with an id, changed by override, as often as it is called.
func (s *Server) Deliver(guildID, channelID, userID, id string, override map[string]any) {
	s.change(func() {
		g := s.guilds[guildID]
		said, author := s.message(userID, channelID, ""), member(g, userID)
		delete(author, "user")
		said["id"], said["guild_id"], said["member"] = id, guildID, author
		for name, value := range override {
			said[name] = value
		}
		s.dispatch(guildID, "MESSAGE_CREATE", said)
	})
}

// Join lets a user join a guild, with roles perhaps.
func (s *Server) Join(guildID, userID string, roles ...string) {
	s.change(func() {
		g := s.guilds[guildID]
		g.Members[userID] = roles
		s.dispatch(guildID, "GUILD_MEMBER_ADD", member(g, userID))
	})
}

// Leave lets a member leave a guild.
func (s *Server) Leave(guildID, userID string) {
	s.change(func() {
		delete(s.guilds[guildID].Members, userID)
		s.dispatch(guildID, "GUILD_MEMBER_REMOVE", object{"guild_id": guildID, "user": user(userID)})
	})
}

// SetRoles gives a member these roles.
func (s *Server) SetRoles(guildID, userID string, roles ...string) {
	s.change(func() {
		g := s.guilds[guildID]
		g.Members[userID] = roles
		s.dispatch(guildID, "GUILD_MEMBER_UPDATE", member(g, userID))
	})
}

// Rename renames a role.
func (s *Server) Rename(guildID, roleID, name string) {
	s.change(func() {
		g := s.guilds[guildID]
		i := slices.IndexFunc(g.Roles, func(r Role) bool { return r.ID == roleID })
		g.Roles[i].Name = name
		s.dispatch(guildID, "GUILD_ROLE_UPDATE", object{"guild_id": guildID, "role": g.Roles[i].json(i + 1)})
	})
}

// Transfer makes another member a guild's owner.
func (s *Server) Transfer(guildID, ownerID string) {
	s.change(func() {
		g := s.guilds[guildID]
		g.OwnerID = ownerID
		s.dispatch(guildID, "GUILD_UPDATE", g.json())
	})
}

// Kick removes the bot from a guild.
func (s *Server) Kick(guildID string) {
	s.change(func() {
		s.guilds[guildID].absent = true
		s.dispatch(guildID, "GUILD_DELETE", object{"id": guildID})
	})
}

// Invite adds the bot to a guild.
func (s *Server) Invite(g *Guild) {
	s.change(func() {
		g.absent = false
		s.guilds[g.ID] = g
		s.dispatch(g.ID, "GUILD_CREATE", g.json())
	})
}

// Forbid takes the rights to change roles and to write away from the bot.
func (s *Server) Forbid(guildID string) { s.change(func() { s.guilds[guildID].forbidden = true }) }

// Refuse closes each connection that identifies itself from now on, with a code.
func (s *Server) Refuse(code int) { s.change(func() { s.refusal = code }) }

// Limit answers the next requests of a kind, such as "POST /api/v10/channels/{channel}/messages", with 429.
func (s *Server) Limit(kind string, requests int) {
	s.change(func() { s.limited, s.limit = kind, requests })
}

// Use is how a member uses a command or a button.
type Use struct {
	UserID, Command, Sub string
	Options              map[string]any // texts, numbers, and UserOption
	Button               string
	Manages              bool // the member has the permission Manage Server
}

// UserOption is a user as the value of an option.
type UserOption string

// Command lets a member use a command or a button, and returns what the bot shows then.
func (s *Server) Command(tb testing.TB, guildID string, use Use) Reply {
	tb.Helper()
	options, resolved := []any{}, object{}
	for name, value := range use.Options {
		switch value := value.(type) {
		case UserOption:
			options = append(options, object{"name": name, "type": 6, "value": string(value)})
			resolved[string(value)] = user(string(value))
		case int:
			options = append(options, object{"name": name, "type": 4, "value": value})
		case string:
			options = append(options, object{"name": name, "type": 3, "value": value})
		}
	}
	if use.Sub != "" {
		options = []any{object{"name": use.Sub, "type": 1, "options": options}}
	}
	kind, data := 2, object{"id": "500000000000000001", "name": use.Command, "type": 1, "options": options, "resolved": object{"users": resolved}}
	if use.Button != "" {
		kind, data = 3, object{"custom_id": use.Button, "component_type": 2}
	}
	token := ""
	s.change(func() {
		g := s.guilds[guildID]
		token = "token-" + s.id()
		asker := member(g, use.UserID)
		asker["permissions"] = "0"
		if use.Manages {
			asker["permissions"] = "32"
		}
		interaction := object{
			"id": s.id(), "application_id": BotID, "type": kind, "token": token, "version": 1, "guild_id": guildID, "channel_id": g.Channels[0].ID,
			"channel": object{"id": g.Channels[0].ID, "type": 0}, "member": asker, "data": data, "locale": "en-US", "guild_locale": "en-US",
			"entitlements": []any{}, "authorizing_integration_owners": object{}, "context": 0, "attachment_size_limit": 10485760,
		}
		if use.Button != "" {
			interaction["message"] = s.message(BotID, g.Channels[0].ID, "")
		}
		s.dispatch(guildID, "INTERACTION_CREATE", interaction)
	})
	var reply Reply
	s.Wait(tb, "the reply to /"+use.Command+use.Button, func() bool {
		var replied bool
		reply, replied = s.replies[token]
		return replied
	})
	return reply
}
