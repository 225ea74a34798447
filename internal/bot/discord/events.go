package discord

import (
	"cmp"
	"encoding/json"
	"strconv"

	"levelboard/internal/bot/chat"
)

// What the bot reads of Discord's objects, by the names of the fields if no tag has another. All else may be as it likes.
type (
	guildObject struct {
		ID, Name, Icon    string
		OwnerID           string `json:"owner_id"`
		SystemID          string `json:"system_channel_id"`
		MemberCount       int    `json:"member_count"`
		Unavailable       bool
		Roles             []roleObject
		Channels, Threads []channelObject
	}
	roleObject struct {
		chat.Role
		Permissions string
	}
	channelObject struct {
		chat.Channel
		GuildID  string                   `json:"guild_id"`
		ParentID string                   `json:"parent_id"`
		Thread   *struct{ Archived bool } `json:"thread_metadata"`
	}
	userObject struct {
		chat.Member
		GlobalName string `json:"global_name"`
		System     bool
	}
	memberObject struct {
		User        userObject
		Roles       []string
		Permissions string // of one who uses a command
	}
	// eventObject is an event of a member, a message, or a role.
	eventObject struct {
		memberObject
		ID        string
		GuildID   string `json:"guild_id"`
		ChannelID string `json:"channel_id"`
		WebhookID string `json:"webhook_id"`
		Type      int
		Author    userObject
		Member    *memberObject
		Role      roleObject
		RoleID    string `json:"role_id"`
		Threads   []channelObject
	}
)

// Discord's bits for what somebody may do.
const (
	mayAdminister = 1 << 3
	mayManage     = 1 << 5
)

func may(permissions string, what int64) bool {
	bits, _ := strconv.ParseInt(permissions, 10, 64) // none, if there are none
	return bits&what != 0
}

func (u userObject) member(roles []string) chat.Member {
	m := u.Member
	m.GlobalName, m.Discriminator, m.Roles, m.Bot = u.GlobalName, cmp.Or(m.Discriminator, "0"), roles, m.Bot || u.System
	return m
}

// onEvent is called for the events of a shard, one after the other.
func (c *Client) onEvent(name string, data json.RawMessage) error {
	switch name {
	case "GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE":
		return read(data, func(g guildObject) { c.onGuild(name, g) })
	case "CHANNEL_CREATE", "CHANNEL_UPDATE":
		return read(data, func(ch channelObject) { c.changed(ch.GuildID, func(g *guild) { g.setChannel(ch) }) })
	case "CHANNEL_DELETE":
		return read(data, func(ch channelObject) { c.changed(ch.GuildID, func(g *guild) { delete(g.channels, ch.ID) }) })
	case "THREAD_CREATE", "THREAD_UPDATE":
		return read(data, func(ch channelObject) { c.change(ch.GuildID, func(g *guild) { g.setChannel(ch) }) })
	case "THREAD_DELETE":
		return read(data, func(ch channelObject) { c.change(ch.GuildID, func(g *guild) { delete(g.threads, ch.ID) }) })
	case "INTERACTION_CREATE":
		return read(data, func(i interaction) { c.working.Go(func() { c.onInteraction(i) }) })
	default:
		return read(data, func(e eventObject) { c.onOther(name, e) })
	}
}

func read[T any](data json.RawMessage, apply func(T)) error {
	var value T
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	apply(value)
	return nil
}

func (c *Client) onGuild(name string, from guildObject) {
	switch {
	case name == "GUILD_UPDATE":
		c.changed(from.ID, func(g *guild) { g.setFacts(from) })
	case from.Unavailable: // Discord has an outage
	case name == "GUILD_DELETE":
		c.mu.Lock()
		delete(c.guilds, from.ID)
		c.mu.Unlock()
		c.Listener.Left(from.ID)
	default:
		g := newGuild(from)
		c.mu.Lock()
		c.guilds[from.ID] = g
		c.mu.Unlock()
		c.Listener.Arrived(from.ID)
	}
}

// The kinds of messages that people write. All others are Discord's own.
const (
	typeMessage = 0
	typeReply   = 19
)

func (c *Client) onOther(name string, e eventObject) {
	switch name {
	case "MESSAGE_CREATE": // of people: not of bots, webhooks or Discord itself
		if author := e.Author.member(nil); (e.Type == typeMessage || e.Type == typeReply) && e.WebhookID == "" && e.Member != nil && !author.Bot {
			author.Roles = e.Member.Roles
			c.Listener.Wrote(chat.Message{
				ID: e.ID, GuildID: e.GuildID, ChannelID: e.ChannelID, ParentID: c.parentOf(e.GuildID, e.ChannelID), Author: author,
			})
		}
	case "GUILD_MEMBER_ADD":
		c.change(e.GuildID, func(g *guild) { g.facts.MemberCount++ })
		c.Listener.Joined(e.GuildID, e.User.member(e.Roles))
	case "GUILD_MEMBER_UPDATE":
		c.Listener.Updated(e.GuildID, e.User.member(e.Roles))
	case "GUILD_MEMBER_REMOVE":
		c.change(e.GuildID, func(g *guild) { g.facts.MemberCount-- })
		c.Listener.Departed(e.GuildID, e.User.ID)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE":
		c.changed(e.GuildID, func(g *guild) { g.setRole(e.Role) })
	case "GUILD_ROLE_DELETE":
		c.changed(e.GuildID, func(g *guild) { delete(g.roles, e.RoleID) })
	case "THREAD_LIST_SYNC":
		c.change(e.GuildID, func(g *guild) {
			for _, thread := range e.Threads {
				g.setChannel(thread)
			}
		})
	}
}
