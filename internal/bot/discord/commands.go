package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"
	"github.com/disgoorg/snowflake/v2"

	"levelboard/internal/bot/chat"
)

const (
	// soon is how long an answer may take before the bot asks Discord for more time. Discord allows 3 seconds.
	soon = 2 * time.Second
	// commandTime is how long an answer may take.
	commandTime = time.Minute
)

// register registers the commands: all at once, which changes nothing when they are the same.
func (c *Client) register(applicationID string) {
	_ = c.insist(c.life, "the commands could not be registered", func() error {
		return c.rest.Do(rest.SetGlobalCommands.Compile(nil, applicationID), commandsOf(c.Commands, isCommand), nil, rest.WithCtx(c.life))
	})
}

// The types of Discord's commands and options.
const (
	isCommand    = 1
	isSubcommand = 1
	isText       = 3
	isNumber     = 4
	isUser       = 6
)

type object = map[string]any

func commandsOf(commands []chat.Command, kind int) (list []object) {
	for _, command := range commands {
		options := append([]object{}, commandsOf(command.Commands, isSubcommand)...)
		for _, o := range command.Options {
			option := object{"type": isUser, "name": o.Name, "description": o.Description, "required": o.Required}
			switch {
			case len(o.Choices) > 0:
				choices := []object{}
				for _, choice := range o.Choices {
					choices = append(choices, object{"name": choice, "value": choice})
				}
				option["type"], option["choices"] = isText, choices
			case o.Max > 0:
				option["type"], option["min_value"], option["max_value"] = isNumber, 0, o.Max
			}
			options = append(options, option)
		}
		create := object{"type": kind, "name": command.Name, "description": command.Description, "options": options}
		if command.ManagersOnly {
			create["default_member_permissions"] = strconv.Itoa(mayManage)
		}
		list = append(list, create)
	}
	return list
}

// interaction is a use of a command or a button.
type interaction struct {
	ID            snowflake.ID
	ApplicationID snowflake.ID `json:"application_id"`
	Token         string
	Type          int
	GuildID       string `json:"guild_id"`
	Member        *memberObject
	Data          struct {
		Name     string
		CustomID string `json:"custom_id"`
		Options  []optionObject
	}
}

type optionObject struct {
	Name    string
	Type    int
	Value   json.RawMessage // a word, an id, or a number
	Options []optionObject
}

const (
	usesCommand   = 2
	usesButton    = 3
	quotationMark = "\""
)

// onInteraction answers a command or a button.
func (c *Client) onInteraction(i interaction) {
	if i.GuildID == "" || i.Member == nil || i.Type != usesCommand && i.Type != usesButton {
		return
	}
	question := chat.Question{
		GuildID: i.GuildID, Asker: i.Member.User.member(i.Member.Roles), Manages: may(i.Member.Permissions, mayManage|mayAdminister),
		Command: i.Data.Name, Button: i.Data.CustomID, Options: map[string]string{},
	}
	options := i.Data.Options
	if len(options) == 1 && options[0].Type == isSubcommand {
		question.Command += " " + options[0].Name
		options = options[0].Options
	}
	for _, option := range options {
		question.Options[option.Name] = strings.Trim(string(option.Value), quotationMark)
	}
	if err := c.answer(i, question); err != nil {
		c.Log.Warn("a command could not be answered", "command", question.Command, "error", err)
	}
}

// answer answers at once if the answer is there soon, else in two steps. Of the first step nobody but the asker sees anything, as the answer may be private.
func (c *Client) answer(i interaction, question chat.Question) error {
	kind, later := discord.InteractionResponseTypeCreateMessage, discord.InteractionResponseTypeDeferredCreateMessage
	if i.Type == usesButton {
		kind, later = discord.InteractionResponseTypeUpdateMessage, discord.InteractionResponseTypeDeferredUpdateMessage
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandTime)
	defer cancel()
	replies := make(chan chat.Reply, 1)
	go func() { replies <- c.Listener.Asked(ctx, question) }()
	select {
	case reply := <-replies:
		return c.interactions.CreateInteractionResponse(i.ID, i.Token, discord.InteractionResponse{Type: kind, Data: created(reply)}, rest.WithCtx(ctx))
	case <-time.After(soon):
	}
	deferred := discord.InteractionResponse{Type: later, Data: discord.MessageCreate{Flags: discord.MessageFlagEphemeral}}
	err := c.interactions.CreateInteractionResponse(i.ID, i.Token, deferred, rest.WithCtx(ctx))
	_, updateErr := c.interactions.UpdateInteractionResponse(i.ApplicationID, i.Token, updated(<-replies), rest.WithCtx(ctx))
	return errors.Join(err, updateErr)
}

func created(r chat.Reply) discord.MessageCreate {
	m := discord.MessageCreate{Content: r.Text, Components: components(r), Files: files(r)}
	if r.Private {
		m.Flags = discord.MessageFlagEphemeral
	}
	return m
}

func updated(r chat.Reply) discord.MessageUpdate {
	rows := components(r)
	return discord.MessageUpdate{Content: &r.Text, Components: &rows, Files: files(r)}
}

func components(r chat.Reply) []discord.LayoutComponent {
	if len(r.Buttons) == 0 {
		return nil
	}
	var row []discord.InteractiveComponent
	for n, b := range r.Buttons {
		id := b.ID
		if b.Disabled {
			id = fmt.Sprintf("%s #%d", b.ID, n) // ids of one message must differ
		}
		row = append(row, discord.NewSecondaryButton(b.Label, id).WithDisabled(b.Disabled))
	}
	return []discord.LayoutComponent{discord.NewActionRow(row...)}
}

// files is the picture, whose description is for those who cannot see it.
func files(r chat.Reply) []*discord.File {
	if r.Picture == nil {
		return nil
	}
	return []*discord.File{discord.NewFile("card.png", r.Text, bytes.NewReader(r.Picture))}
}
