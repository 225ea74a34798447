// Package chat has the words in which the two halves of the bot talk: the keeper, which knows XP and no chat service, and the chat service's
// client, which knows no XP. It has types only.
package chat

import (
	"context"
	"errors"
)

// What a call of a Chat may fail with. Any other error is worth another try.
var (
	ErrUnknown   = errors.New("there is no such member, guild, role or channel")
	ErrForbidden = errors.New("the bot lacks a right for it")
)

// Guild is a guild's facts.
type Guild struct {
	Name, Icon      string // no icon: ""
	OwnerID         string
	SystemChannelID string    // "" without one
	Roles           []Role    // without the one that everybody has
	Channels        []Channel // without threads
}

// Role is a role of a guild, in JSON as Levelboard's directory has it.
type Role struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	Color         int    `json:"color,omitzero"`
	Position      int    `json:"position"`
	Administrator bool   `json:"-"`
}

// Channel is a channel of a guild, in JSON as Levelboard's directory has it.
type Channel struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	ParentID string `json:"parentId,omitzero"`
	Position int    `json:"position"`
	Type     int    `json:"type"`
}

// Member is a user in a guild.
type Member struct {
	ID, Username, GlobalName, Discriminator, Avatar string
	Roles                                           []string
	Bot                                             bool
}

// Message is what a member wrote, without the content.
type Message struct {
	ID, ChannelID string
	ParentID      string // of the channel: its category, or the channel of a thread
	Author        Member
}

// Listener hears of what happens in one guild. Calls come in order, and must return soon, but for Asked.
type Listener interface {
	// Arrived says that the guild is there, with so many members. Earlier changes of it may have been missed.
	Arrived(members int)
	// Changed says that the facts of the guild have changed.
	Changed()
	// Left says that the bot is no longer in the guild.
	Left()
	// Updated brings a member who has joined, or whose roles may have changed.
	Updated(member Member, joined bool)
	Departed(userID string)
	Wrote(message Message)
	// Asked answers a command or a button.
	Asked(ctx context.Context, question Question) Reply
}

// Chat is what the bot can do in its guilds.
type Chat interface {
	// Guild returns a guild's facts as of now.
	Guild(ctx context.Context, guildID string) (Guild, error)
	// Members returns all members of a guild.
	Members(ctx context.Context, guildID string) ([]Member, error)
	Member(ctx context.Context, guildID, userID string) (Member, error)
	// SetRole gives or takes a member's role.
	SetRole(ctx context.Context, guildID, userID, roleID string, given bool) error
	// Post writes a message that mentions nobody but the users named.
	Post(ctx context.Context, channelID, text string, mentions ...string) error
}

// Question is a use of a command or a button.
type Question struct {
	Asker   Member
	Manages bool   // whether the asker may manage the guild
	Command string // with a subcommand after a space; or the id of the button
	Options map[string]string
}

// Reply is the answer to a Question.
type Reply struct {
	Text    string
	Picture []byte // a PNG, which the text describes
	Private bool   // only the asker sees it
	Buttons []Button
}

// Button is a button under a reply.
type Button struct {
	ID, Label string // no two of a reply have the same id
	Disabled  bool
}
