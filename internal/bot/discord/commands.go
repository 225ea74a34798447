package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"
	"github.com/disgoorg/snowflake/v2"

	"levelboard/internal/bot/chat"
)

// register registers the commands: all at once, which changes nothing when they are the same.
func (c *Client) register(ctx context.Context) error {
	return c.insist(ctx, "the commands could not be registered", func() error {
		var application struct{ ID string }
		if err := c.call(ctx, rest.GetCurrentApplication.Compile(nil), nil, &application); err != nil {
			return err
		}
		return c.call(ctx, rest.SetGlobalCommands.Compile(nil, application.ID), c.Commands, nil)
	})
}

type object = map[string]any

// use is a use of a command or a button.
type use struct {
	Name     string
	CustomID string `json:"custom_id"`
	Options  []option
}

type option struct {
	Name    string
	Type    discord.ApplicationCommandOptionType
	Value   json.RawMessage // a word, an id, or a number
	Options []option
}

// onInteraction answers a command or a button.
func (c *Client) onInteraction(e event) error {
	kind := discord.InteractionType(e.Type)
	if e.GuildID == "" || e.Member == nil || kind != discord.InteractionTypeApplicationCommand && kind != discord.InteractionTypeComponent {
		return nil
	}
	rights := e.Member.Permissions
	question := chat.Question{
		GuildID: e.GuildID, Asker: e.Member.User.member(e.Member.Roles), Command: e.Data.Name, Button: e.Data.CustomID, Options: map[string]string{},
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
	answer := discord.InteractionResponse{Type: discord.InteractionResponseTypeCreateMessage, Data: message(c.Listener.Asked(ctx, question))}
	if kind == discord.InteractionTypeComponent {
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
