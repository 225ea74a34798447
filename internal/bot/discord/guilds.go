package discord

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/disgoorg/disgo/rest"

	"levelboard/internal/bot/chat"
)

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
	c.change(guildID, func(g *chat.Guild) { g.Channels[channelID] = chat.Channel{ID: channelID, ParentID: ch.ParentID, Thread: true} })
	return ch.ParentID
}
