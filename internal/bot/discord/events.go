package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"levelboard/internal/bot/chat"
)

// What the bot reads of Discord's objects, by the names of the fields if no tag has another. All else may be as it likes.
type (
	channel struct {
		chat.Channel
		ParentID string `json:"parent_id"`
	}
	user struct {
		chat.Member
		GlobalName string `json:"global_name"`
		System     bool
	}
	member struct {
		User        user
		Roles       []string
		Permissions discord.Permissions // of one who uses a command
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

		Token string // of a use
		Data  use
	}
	guildEvent struct {
		ID                string
		Unavailable       bool
		MemberCount       int `json:"member_count"`
		Channels, Threads []channel
	}
)

func (u user) member(roles []string) chat.Member {
	m := u.Member
	m.GlobalName, m.Discriminator, m.Roles, m.Bot = u.GlobalName, cmp.Or(m.Discriminator, "0"), roles, m.Bot || u.System
	return m
}

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
	case "THREAD_CREATE":
		c.parents.Add(e.ID, e.ParentID)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE":
		c.parents.Add(e.ID, e.ParentID)
		c.Listener.Changed(e.GuildID)
	case "CHANNEL_DELETE", "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		c.Listener.Changed(e.GuildID)
	case "GUILD_MEMBER_ADD":
		c.Listener.Updated(e.GuildID, e.User.member(e.Roles), true)
	case "GUILD_MEMBER_UPDATE":
		c.Listener.Updated(e.GuildID, e.User.member(e.Roles), false)
	case "GUILD_MEMBER_REMOVE":
		c.Listener.Departed(e.GuildID, e.User.ID)
	case "INTERACTION_CREATE":
		c.running.Go(func() error { return c.onInteraction(e) })
	case "MESSAGE_CREATE": // of people: not of bots, webhooks or Discord itself
		kind, author := discord.MessageType(e.Type), e.Author.member(nil)
		if (kind == discord.MessageTypeDefault || kind == discord.MessageTypeReply) && e.WebhookID == "" && e.Member != nil && !author.Bot {
			author.Roles = e.Member.Roles
			c.Listener.Wrote(chat.Message{ID: e.ID, GuildID: e.GuildID, ChannelID: e.ChannelID, ParentID: c.parentOf(e.ChannelID), Author: author})
		}
	}
	return nil
}

func (c *Client) onGuild(name string, data json.RawMessage) error {
	var g guildEvent
	if err := json.Unmarshal(data, &g); err != nil {
		return err
	}
	switch {
	case name == "GUILD_UPDATE":
		c.Listener.Changed(g.ID)
	case g.Unavailable: // Discord has an outage
	case name == "GUILD_DELETE":
		c.Listener.Left(g.ID)
	default:
		for _, ch := range slices.Concat(g.Channels, g.Threads) {
			c.parents.Add(ch.ID, ch.ParentID)
		}
		c.Listener.Arrived(g.ID, g.MemberCount)
	}
	return nil
}

const (
	parentsKept = 100_000         // channels whose parents are remembered
	lookTime    = 3 * time.Second // how long the events of a shard may wait for another one
)

// parentOf returns a channel's category, or a thread's channel; "" without one. It asks for a channel that is not remembered, such as a thread
// that was archived.
func (c *Client) parentOf(channelID string) string {
	if parent, known := c.parents.Get(channelID); known {
		return parent
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	var ch channel
	_ = c.call(ctx, rest.GetChannel.Compile(nil, channelID), nil, &ch) // no parent, if Discord does not say
	c.parents.Add(channelID, ch.ParentID)
	return ch.ParentID
}
