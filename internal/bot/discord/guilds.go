package discord

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/disgoorg/disgo/rest"

	"levelboard/internal/bot/chat"
)

// guild is what is remembered of a guild: no members, no messages.
type guild struct {
	facts    chat.Guild // without roles and channels
	roles    map[string]chat.Role
	channels map[string]chat.Channel
	threads  map[string]string // their channels
}

// Guild implements chat.Chat.
func (c *Client) Guild(guildID string) (facts chat.Guild, is bool) {
	is = c.change(guildID, func(g *guild) {
		facts = g.facts
		facts.Roles = slices.SortedFunc(maps.Values(g.roles), func(a, b chat.Role) int {
			return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
		})
		facts.Channels = slices.SortedFunc(maps.Values(g.channels), func(a, b chat.Channel) int {
			return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
		})
	})
	return facts, is
}

func newGuild(from guildObject) *guild {
	g := &guild{roles: map[string]chat.Role{}, channels: map[string]chat.Channel{}, threads: map[string]string{}}
	g.setFacts(from)
	g.facts.MemberCount = from.MemberCount
	for _, r := range from.Roles {
		g.setRole(r)
	}
	for _, channel := range slices.Concat(from.Channels, from.Threads) {
		g.setChannel(channel)
	}
	return g
}

// setFacts sets what GUILD_UPDATE has, too.
func (g *guild) setFacts(from guildObject) {
	g.facts = chat.Guild{
		ID: from.ID, Name: from.Name, Icon: from.Icon, OwnerID: from.OwnerID, SystemChannelID: from.SystemID, MemberCount: g.facts.MemberCount,
	}
}

func (g *guild) setRole(r roleObject) {
	r.Administrator, r.Position = may(r.Permissions, mayAdminister), max(0, r.Position)
	if r.ID != g.facts.ID { // @everyone
		g.roles[r.ID] = r.Role
	}
}

// setChannel sets a channel or a thread.
func (g *guild) setChannel(from channelObject) {
	from.Channel.ParentID, from.Position = from.ParentID, max(0, from.Position)
	switch {
	case from.Thread == nil:
		g.channels[from.ID] = from.Channel
	case from.Thread.Archived:
		delete(g.threads, from.ID)
	default:
		g.threads[from.ID] = from.ParentID
	}
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
		if parent, known = g.threads[channelID]; !known {
			var channel chat.Channel
			channel, known = g.channels[channelID]
			parent = channel.ParentID
		}
	})
	if known {
		return parent
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	var channel channelObject // no parent, if Discord does not say
	_ = c.rest.Do(rest.GetChannel.Compile(nil, channelID), nil, &channel, rest.WithCtx(ctx))
	c.change(guildID, func(g *guild) { g.threads[channelID] = channel.ParentID })
	return channel.ParentID
}
