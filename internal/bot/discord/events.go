package discord

import (
	"cmp"
	"encoding/json"
	"strconv"

	"levelboard/internal/bot/chat"
)

// What the bot reads of Discord's objects. All else may be as it likes.
type (
	guildObject struct {
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Icon        string          `json:"icon"`
		OwnerID     string          `json:"owner_id"`
		SystemID    string          `json:"system_channel_id"`
		MemberCount int             `json:"member_count"`
		Unavailable bool            `json:"unavailable"`
		Roles       []roleObject    `json:"roles"`
		Channels    []channelObject `json:"channels"`
		Threads     []channelObject `json:"threads"`
	}
	roleObject struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Color       int    `json:"color"`
		Position    int    `json:"position"`
		Permissions string `json:"permissions"`
	}
	channelObject struct {
		ID       string `json:"id"`
		GuildID  string `json:"guild_id"`
		Name     string `json:"name"`
		ParentID string `json:"parent_id"`
		Position int    `json:"position"`
		Type     int    `json:"type"`
		Thread   struct {
			Archived bool `json:"archived"`
		} `json:"thread_metadata"`
	}
	userObject struct {
		ID            string `json:"id"`
		Username      string `json:"username"`
		GlobalName    string `json:"global_name"`
		Discriminator string `json:"discriminator"`
		Avatar        string `json:"avatar"`
		Bot           bool   `json:"bot"`
		System        bool   `json:"system"`
	}
	memberObject struct {
		User        userObject `json:"user"`
		Roles       []string   `json:"roles"`
		Permissions string     `json:"permissions"` // of one who uses a command
	}
	// eventObject is any event but those of guilds and channels.
	eventObject struct {
		memberObject
		ID        string          `json:"id"`
		GuildID   string          `json:"guild_id"`
		ChannelID string          `json:"channel_id"`
		WebhookID string          `json:"webhook_id"`
		Type      int             `json:"type"`
		Author    userObject      `json:"author"`
		Member    *memberObject   `json:"member"`
		Role      roleObject      `json:"role"`
		RoleID    string          `json:"role_id"`
		Threads   []channelObject `json:"threads"`
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
	return chat.Member{
		ID: u.ID, Username: u.Username, GlobalName: u.GlobalName, Discriminator: cmp.Or(u.Discriminator, "0"), Avatar: u.Avatar, Roles: roles, Bot: u.Bot || u.System,
	}
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
		return read(data, func(ch channelObject) { c.change(ch.GuildID, func(g *guild) { g.setThread(ch) }) })
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

func (c *Client) onOther(name string, e eventObject) {
	switch name {
	case "MESSAGE_CREATE":
		c.onMessage(e)
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
				g.setThread(thread)
			}
		})
	}
}

// The kinds of messages that people write. All others are Discord's own.
const (
	typeMessage = 0
	typeReply   = 19
)

// onMessage passes on what people write: not bots, not webhooks, not Discord itself.
func (c *Client) onMessage(m eventObject) {
	if m.Type != typeMessage && m.Type != typeReply || m.WebhookID != "" || m.Member == nil || m.Author.Bot || m.Author.System {
		return
	}
	c.Listener.Wrote(chat.Message{
		ID: m.ID, GuildID: m.GuildID, ChannelID: m.ChannelID, ParentID: c.parentOf(m.GuildID, m.ChannelID), Author: m.Author.member(m.Member.Roles),
	})
}
