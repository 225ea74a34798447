package discord

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"
	"github.com/disgoorg/snowflake/v2"

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
	// event is an event of a guild, a channel, a member, a message, a role, a command or a button.
	event struct {
		channel
		User      user            // of a member
		Roles     json.RawMessage // ids, if it is of a member
		GuildID   string          `json:"guild_id"`
		ChannelID string          `json:"channel_id"`
		WebhookID string          `json:"webhook_id"`
		Author    user            // of a message
		Member    member          // who wrote, or uses a command

		Token string // of a use
		Data  use

		MemberCount       int `json:"member_count"` // of a guild
		Unavailable       bool
		Channels, Threads []channel
	}
	// use is a use of a command or a button.
	use struct {
		Name     string
		CustomID string `json:"custom_id"`
		Options  []option
	}
	option struct {
		Name    string
		Type    discord.ApplicationCommandOptionType
		Value   json.RawMessage // a word, an id, or a number
		Options []option
	}
)

func (u user) member(roles []string) chat.Member {
	m := u.Member
	m.GlobalName, m.Discriminator, m.Roles, m.Bot = u.GlobalName, cmp.Or(m.Discriminator, "0"), roles, m.Bot || u.System
	return m
}

// onEvent is called for the events of a shard, one after the other.
func (c *Client) onEvent(name string, data json.RawMessage) error {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	if e.GuildID == "" && strings.HasPrefix(name, "GUILD_") {
		e.GuildID = e.ID
	}
	if e.GuildID == "" {
		return nil
	}
	guild := c.Guilds(e.GuildID)
	switch name {
	case "GUILD_CREATE":
		for _, ch := range slices.Concat(e.Channels, e.Threads) {
			c.parents.Add(ch.ID, ch.ParentID)
		}
		if !e.Unavailable { // else Discord has an outage
			guild.Arrived(e.MemberCount)
		}
	case "GUILD_DELETE":
		if !e.Unavailable {
			guild.Left()
		}
	case "THREAD_CREATE":
		c.parents.Add(e.ID, e.ParentID)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE":
		c.parents.Add(e.ID, e.ParentID)
		guild.Changed()
	case "GUILD_UPDATE", "CHANNEL_DELETE", "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		guild.Changed()
	case "GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE":
		var roles []string
		if err := json.Unmarshal(e.Roles, &roles); err != nil {
			return err
		}
		guild.Updated(e.User.member(roles), name == "GUILD_MEMBER_ADD")
	case "GUILD_MEMBER_REMOVE":
		guild.Departed(e.User.ID)
	case "INTERACTION_CREATE":
		c.running.Go(func() error { return c.onInteraction(guild, e) })
	case "MESSAGE_CREATE": // of people: not of bots, webhooks or Discord itself
		kind, author := discord.MessageType(e.Type), e.Author.member(nil)
		if (kind == discord.MessageTypeDefault || kind == discord.MessageTypeReply) && e.WebhookID == "" && !author.Bot {
			author.Roles = e.Member.Roles
			guild.Wrote(chat.Message{ID: e.ID, ChannelID: e.ChannelID, ParentID: c.parentOf(e.ChannelID), Author: author})
		}
	}
	return nil
}

// parentOf returns a channel's category, or a thread's channel; "" without one. It asks for one that is not remembered, such as an archived thread.
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

// onInteraction answers a command or a button.
func (c *Client) onInteraction(guild chat.Listener, e event) error {
	rights := e.Member.Permissions
	question := chat.Question{
		Asker: e.Member.User.member(e.Member.Roles), Command: cmp.Or(e.Data.CustomID, e.Data.Name), Options: map[string]string{},
		Manages: rights.Has(discord.PermissionManageGuild) || rights.Has(discord.PermissionAdministrator),
	}
	options := e.Data.Options
	if len(options) == 1 && options[0].Type == discord.ApplicationCommandOptionTypeSubCommand {
		question.Command += " " + options[0].Name
		options = options[0].Options
	}
	for _, o := range options {
		question.Options[o.Name] = strings.Trim(string(o.Value), `"`)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.AnswerTime)
	defer cancel()
	answer := discord.InteractionResponse{Type: discord.InteractionResponseTypeCreateMessage, Data: message(guild.Asked(ctx, question))}
	if discord.InteractionType(e.Type) == discord.InteractionTypeComponent {
		answer.Type = discord.InteractionResponseTypeUpdateMessage
	}
	id, _ := snowflake.Parse(e.ID)
	if err := c.interactions.CreateInteractionResponse(id, e.Token, answer); err != nil {
		c.Log.Warn("a command could not be answered", "command", question.Command, "error", err)
	}
	return nil
}

// message is a reply as Discord takes it. The text describes the picture, too, for those who cannot see it.
func message(r chat.Reply) discord.MessageCreate {
	m := discord.MessageCreate{Content: r.Text}
	if r.Private {
		m.Flags = discord.MessageFlagEphemeral
	}
	if r.Picture != nil {
		m.Files = []*discord.File{discord.NewFile("card.png", r.Text, bytes.NewReader(r.Picture))}
	}
	var row []discord.InteractiveComponent
	for _, b := range r.Buttons {
		row = append(row, discord.NewSecondaryButton(b.Label, b.ID).WithDisabled(b.Disabled))
	}
	if len(row) > 0 {
		m.Components = []discord.LayoutComponent{discord.NewActionRow(row...)}
	}
	return m
}
