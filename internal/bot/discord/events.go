package discord

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/disgoorg/snowflake/v2"

	"levelboard/internal/bot/chat"
)

// What the bot reads of Discord's objects, by the names of the fields if no tag has another. All else may be as it likes.
type (
	role struct {
		chat.Role
		Permissions string
	}
	channel struct {
		chat.Channel
		ParentID string                   `json:"parent_id"`
		Thread   *struct{ Archived bool } `json:"thread_metadata"`
	}
	user struct {
		chat.Member
		GlobalName string `json:"global_name"`
		System     bool
	}
	member struct {
		User        user
		Roles       []string
		Permissions string // of one who uses a command
	}
	// event is an event of a channel, a member, a message, a role, a command or a button.
	event struct {
		channel
		member
		GuildID   string  `json:"guild_id"`
		ChannelID string  `json:"channel_id"`
		WebhookID string  `json:"webhook_id"`
		Author    user    // of a message
		Member    *member // who wrote, or uses a command
		Role      role
		RoleID    string `json:"role_id"`

		ApplicationID snowflake.ID `json:"application_id"`
		Token         string
		Data          use
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

func (u user) member(roles []string) chat.Member {
	m := u.Member
	m.GlobalName, m.Discriminator, m.Roles, m.Bot = u.GlobalName, cmp.Or(m.Discriminator, "0"), roles, m.Bot || u.System
	return m
}

// The kinds of messages that people write. All others are Discord's own.
const (
	typeMessage = 0
	typeReply   = 19
)

// onEvent is called for the events of a shard, one after the other.
func (c *Client) onEvent(name string, data json.RawMessage) error {
	if name == "GUILD_CREATE" || name == "GUILD_UPDATE" || name == "GUILD_DELETE" {
		return c.onGuild(name, data)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	switch name {
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		c.changed(e.GuildID, func(g *chat.Guild) { setChannel(g, e.channel) })
	case "CHANNEL_DELETE", "THREAD_DELETE":
		c.changed(e.GuildID, func(g *chat.Guild) { delete(g.Channels, e.ID) })
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE":
		c.changed(e.GuildID, func(g *chat.Guild) { setRole(g, e.Role) })
	case "GUILD_ROLE_DELETE":
		c.changed(e.GuildID, func(g *chat.Guild) { delete(g.Roles, e.RoleID) })
	case "GUILD_MEMBER_ADD":
		c.change(e.GuildID, func(g *chat.Guild) { g.MemberCount++ })
		c.Listener.Updated(e.GuildID, e.User.member(e.Roles), true)
	case "GUILD_MEMBER_UPDATE":
		c.Listener.Updated(e.GuildID, e.User.member(e.Roles), false)
	case "GUILD_MEMBER_REMOVE":
		c.change(e.GuildID, func(g *chat.Guild) { g.MemberCount-- })
		c.Listener.Departed(e.GuildID, e.User.ID)
	case "INTERACTION_CREATE":
		c.working.Go(func() { c.onInteraction(e) })
	case "MESSAGE_CREATE": // of people: not of bots, webhooks or Discord itself
		if author := e.Author.member(nil); (e.Type == typeMessage || e.Type == typeReply) && e.WebhookID == "" && e.Member != nil && !author.Bot {
			author.Roles = e.Member.Roles
			c.Listener.Wrote(chat.Message{
				ID: e.ID, GuildID: e.GuildID, ChannelID: e.ChannelID, ParentID: c.parentOf(e.GuildID, e.ChannelID), Author: author,
			})
		}
	}
	return nil
}
