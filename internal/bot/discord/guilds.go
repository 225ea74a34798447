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
func (c *Client) Guild(guildID string) (chat.Guild, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := c.guilds[guildID]
	if g == nil {
		return chat.Guild{}, false
	}
	facts := g.facts
	facts.Roles = slices.SortedFunc(maps.Values(g.roles), func(a, b chat.Role) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	facts.Channels = slices.SortedFunc(maps.Values(g.channels), func(a, b chat.Channel) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.ID, b.ID))
	})
	return facts, true
}

func newGuild(from guildObject) *guild {
	g := &guild{roles: map[string]chat.Role{}, channels: map[string]chat.Channel{}, threads: map[string]string{}}
	g.setFacts(from)
	g.facts.MemberCount = from.MemberCount
	for _, r := range from.Roles {
		g.setRole(r)
	}
	for _, channel := range from.Channels {
		g.setChannel(channel)
	}
	for _, thread := range from.Threads {
		g.setThread(thread)
	}
	return g
}

// setFacts sets what GUILD_UPDATE has, too.
func (g *guild) setFacts(from guildObject) {
	members := g.facts.MemberCount
	g.facts = chat.Guild{ID: from.ID, Name: from.Name, Icon: from.Icon, OwnerID: from.OwnerID, SystemChannelID: from.SystemID, MemberCount: members}
}

func (g *guild) setRole(r roleObject) {
	if r.ID != g.facts.ID { // @everyone
		g.roles[r.ID] = chat.Role{ID: r.ID, Name: r.Name, Color: r.Color, Position: r.Position, Administrator: may(r.Permissions, mayAdminister)}
	}
}

func (g *guild) setChannel(from channelObject) {
	g.channels[from.ID] = chat.Channel{ID: from.ID, Name: from.Name, ParentID: from.ParentID, Position: from.Position, Type: from.Type}
}

func (g *guild) setThread(thread channelObject) {
	if thread.Thread.Archived {
		delete(g.threads, thread.ID)
	} else {
		g.threads[thread.ID] = thread.ParentID
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

// parentOf returns a channel's category, or a thread's channel; "" without one. A channel that is not remembered, such as a thread that
// was archived, is asked for.
func (c *Client) parentOf(guildID, channelID string) (parent string) {
	known := false
	c.change(guildID, func(g *guild) {
		if channel, ok := g.channels[channelID]; ok {
			parent, known = channel.ParentID, true
		} else {
			parent, known = g.threads[channelID]
		}
	})
	if known {
		return parent
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	var channel channelObject // no parent, if Discord does not say
	if c.rest.Do(rest.GetChannel.Compile(nil, channelID), nil, &channel, rest.WithCtx(ctx)) == nil {
		parent = channel.ParentID
	}
	c.change(guildID, func(g *guild) { g.threads[channelID] = parent })
	return parent
}

// lookTime is how long the events of a shard may wait for a channel that is not known.
const lookTime = 3 * time.Second
