package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/disgoorg/disgo/rest"

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

		Token string // of a use
		Data  use
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

// onGuild notes a guild that is there, has changed, or is gone.
func (c *Client) onGuild(name string, data json.RawMessage) error {
	var from struct {
		ID, Name, Icon    string
		OwnerID           string `json:"owner_id"`
		SystemID          string `json:"system_channel_id"`
		MemberCount       int    `json:"member_count"`
		Unavailable       bool
		Roles             []role
		Channels, Threads []channel
	}
	if err := json.Unmarshal(data, &from); err != nil {
		return err
	}
	facts := chat.Guild{ID: from.ID, Name: from.Name, Icon: from.Icon, OwnerID: from.OwnerID, SystemChannelID: from.SystemID, MemberCount: from.MemberCount}
	switch {
	case name == "GUILD_UPDATE": // has no members and channels
		c.changed(from.ID, func(g *chat.Guild) {
			facts.MemberCount, facts.Roles, facts.Channels = g.MemberCount, g.Roles, g.Channels
			*g = facts
		})
	case from.Unavailable: // Discord has an outage
	case name == "GUILD_DELETE":
		c.mu.Lock()
		delete(c.guilds, from.ID)
		c.mu.Unlock()
		c.Listener.Left(from.ID)
	default:
		facts.Roles, facts.Channels = map[string]chat.Role{}, map[string]chat.Channel{}
		for _, r := range from.Roles {
			setRole(&facts, r)
		}
		for _, ch := range slices.Concat(from.Channels, from.Threads) {
			setChannel(&facts, ch)
		}
		c.mu.Lock()
		c.guilds[from.ID] = &facts
		c.mu.Unlock()
		c.Listener.Arrived(from.ID)
	}
	return nil
}

// Guild implements chat.Chat.
func (c *Client) Guild(guildID string) (facts chat.Guild, is bool) {
	is = c.change(guildID, func(g *chat.Guild) {
		facts = *g
		facts.Roles, facts.Channels = maps.Clone(g.Roles), maps.Clone(g.Channels)
	})
	return facts, is
}

func setRole(g *chat.Guild, r role) {
	r.Administrator, r.Position = may(r.Permissions, mayAdminister), max(0, r.Position)
	if r.ID != g.ID { // @everyone
		g.Roles[r.ID] = r.Role
	}
}

// setChannel sets a channel or a thread.
func setChannel(g *chat.Guild, ch channel) {
	ch.Channel.ParentID, ch.Position, ch.Channel.Thread = ch.ParentID, max(0, ch.Position), ch.Thread != nil
	g.Channels[ch.ID] = ch.Channel
	if ch.Thread != nil && ch.Thread.Archived {
		delete(g.Channels, ch.ID)
	}
}

// change changes what is remembered of a guild, and reports whether the bot is in it.
func (c *Client) change(guildID string, change func(*chat.Guild)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.guilds[guildID]
	if g != nil {
		change(g)
	}
	return g != nil
}

func (c *Client) changed(guildID string, change func(*chat.Guild)) {
	if c.change(guildID, change) {
		c.Listener.Changed(guildID)
	}
}

// lookTime is how long the events of a shard may wait for a channel that is not known.
const lookTime = 3 * time.Second

// parentOf returns a channel's category, or a thread's channel; "" without one. A channel that is not remembered, such as a thread that
// was archived, is asked for.
func (c *Client) parentOf(guildID, channelID string) string {
	var ch channel
	known := false
	c.change(guildID, func(g *chat.Guild) { ch.Channel, known = g.Channels[channelID] })
	if known {
		return ch.Channel.ParentID
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	_ = c.call(ctx, rest.GetChannel.Compile(nil, channelID), nil, &ch) // no parent, if Discord does not say
	c.change(guildID, func(g *chat.Guild) {
		g.Channels[channelID] = chat.Channel{ID: channelID, ParentID: ch.ParentID, Thread: true}
	})
	return ch.ParentID
}
