package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"
	"github.com/disgoorg/snowflake/v2"

	"levelboard/internal/bot/chat"
)

// register registers the commands: all at once, which changes nothing when they are the same.
func (c *Client) register(applicationID string) {
	_ = c.insist(c.life, "the commands could not be registered", func() error {
		return c.call(c.life, rest.SetGlobalCommands.Compile(nil, applicationID), c.Commands, nil)
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
	Type    int
	Value   json.RawMessage // a word, an id, or a number
	Options []option
}

// Discord's types of uses and options.
const (
	usesCommand  = 2
	usesButton   = 3
	isSubcommand = 1
)

const quotationMark = "\""

// onInteraction answers a command or a button.
func (c *Client) onInteraction(e event) {
	if e.GuildID == "" || e.Member == nil || e.Type != usesCommand && e.Type != usesButton {
		return
	}
	question := chat.Question{
		GuildID: e.GuildID, Asker: e.Member.User.member(e.Member.Roles), Manages: may(e.Member.Permissions, mayManage|mayAdminister),
		Command: e.Data.Name, Button: e.Data.CustomID, Options: map[string]string{},
	}
	options := e.Data.Options
	if len(options) == 1 && options[0].Type == isSubcommand {
		question.Command += " " + options[0].Name
		options = options[0].Options
	}
	for _, o := range options {
		question.Options[o.Name] = strings.Trim(string(o.Value), quotationMark)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.AnswerTime)
	defer cancel()
	answer := discord.InteractionResponse{Type: discord.InteractionResponseTypeCreateMessage, Data: message(c.Listener.Asked(ctx, question))}
	if e.Type == usesButton {
		answer.Type = discord.InteractionResponseTypeUpdateMessage
	}
	id, _ := snowflake.Parse(e.ID)
	if err := c.interactions.CreateInteractionResponse(id, e.Token, answer); err != nil {
		c.Log.Warn("a command could not be answered", "command", question.Command, "error", err)
	}
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
	for n, b := range r.Buttons {
		id := b.ID
		if b.Disabled {
			id = fmt.Sprintf("%s #%d", b.ID, n) // ids of one message must differ
		}
		row = append(row, discord.NewSecondaryButton(b.Label, id).WithDisabled(b.Disabled))
	}
	if len(row) > 0 {
		m.Components = []discord.LayoutComponent{discord.NewActionRow(row...)}
	}
	return m
}
