package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/disgoorg/disgo/rest"

	"levelboard/internal/bot/chat"
)

// guild is what is remembered of a guild: no members, no messages.
type guild struct {
	facts   chat.Guild
	threads map[string]string // their channels
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
		c.changed(from.ID, func(g *guild) {
			facts.MemberCount, facts.Roles, facts.Channels = g.facts.MemberCount, g.facts.Roles, g.facts.Channels
			g.facts = facts
		})
	case from.Unavailable: // Discord has an outage
	case name == "GUILD_DELETE":
		c.mu.Lock()
		delete(c.guilds, from.ID)
		c.mu.Unlock()
		c.Listener.Left(from.ID)
	default:
		g := &guild{facts: facts, threads: map[string]string{}}
		for _, r := range from.Roles {
			g.setRole(r)
		}
		for _, ch := range slices.Concat(from.Channels, from.Threads) {
			g.setChannel(ch)
		}
		c.mu.Lock()
		c.guilds[from.ID] = g
		c.mu.Unlock()
		c.Listener.Arrived(from.ID)
	}
	return nil
}

// Guild implements chat.Chat.
func (c *Client) Guild(guildID string) (facts chat.Guild, is bool) {
	is = c.change(guildID, func(g *guild) {
		facts = g.facts
		facts.Roles, facts.Channels = slices.Clone(facts.Roles), slices.Clone(facts.Channels)
	})
	slices.SortFunc(facts.Roles, func(a, b chat.Role) int { return cmp.Or(a.Position-b.Position, cmp.Compare(a.ID, b.ID)) })
	slices.SortFunc(facts.Channels, func(a, b chat.Channel) int { return cmp.Or(a.Position-b.Position, cmp.Compare(a.ID, b.ID)) })
	return facts, is
}

func (g *guild) setRole(r role) {
	g.removeRole(r.ID)
	r.Administrator, r.Position = may(r.Permissions, mayAdminister), max(0, r.Position)
	if r.ID != g.facts.ID { // @everyone
		g.facts.Roles = append(g.facts.Roles, r.Role)
	}
}

func (g *guild) removeRole(roleID string) {
	g.facts.Roles = slices.DeleteFunc(g.facts.Roles, func(r chat.Role) bool { return r.ID == roleID })
}

// setChannel sets a channel or a thread.
func (g *guild) setChannel(ch channel) {
	g.removeChannel(ch.ID)
	switch ch.Channel.ParentID, ch.Position = ch.ParentID, max(0, ch.Position); {
	case ch.Thread == nil:
		g.facts.Channels = append(g.facts.Channels, ch.Channel)
	case !ch.Thread.Archived:
		g.threads[ch.ID] = ch.ParentID
	}
}

func (g *guild) removeChannel(channelID string) {
	delete(g.threads, channelID)
	g.facts.Channels = slices.DeleteFunc(g.facts.Channels, func(ch chat.Channel) bool { return ch.ID == channelID })
}

// change changes what is remembered of a guild, and reports whether the bot is in it.
func (c *Client) change(guildID string, change func(*guild)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.guilds[guildID]
	if g != nil {
		change(g)
	}
	return g != nil
}

func (c *Client) changed(guildID string, change func(*guild)) {
	if c.change(guildID, change) {
		c.Listener.Changed(guildID)
	}
}

// lookTime is how long the events of a shard may wait for a channel that is not known.
const lookTime = 3 * time.Second

// parentOf returns a channel's category, or a thread's channel; "" without one. A channel that is not remembered, such as a thread that
// was archived, is asked for.
func (c *Client) parentOf(guildID, channelID string) (parent string) {
	known := false
	c.change(guildID, func(g *guild) {
		if parent, known = g.threads[channelID]; known {
			return
		}
		i := slices.IndexFunc(g.facts.Channels, func(ch chat.Channel) bool { return ch.ID == channelID })
		if known = i >= 0; known {
			parent = g.facts.Channels[i].ParentID
		}
	})
	if known {
		return parent
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	var ch channel // no parent, if Discord does not say
	_ = c.call(ctx, rest.GetChannel.Compile(nil, channelID), nil, &ch)
	c.change(guildID, func(g *guild) { g.threads[channelID] = ch.ParentID })
	return ch.ParentID
}
