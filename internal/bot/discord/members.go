package discord

import (
	"context"
	"errors"
	"net/http"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"
	"github.com/disgoorg/snowflake/v2"

	"levelboard/internal/bot/chat"
)

const membersPage = 1000

// Members implements chat.Chat.
func (c *Client) Members(ctx context.Context, guildID string) ([]chat.Member, error) {
	id, err := snowflake.Parse(guildID)
	if err != nil {
		return nil, err
	}
	var all []chat.Member
	var last snowflake.ID
	for full := true; full; {
		page, err := c.members.GetMembers(id, membersPage, last, rest.WithCtx(ctx))
		if err != nil {
			return nil, explain(err)
		}
		for _, m := range page {
			all = append(all, memberOf(m))
			last = max(last, m.User.ID)
		}
		full = len(page) == membersPage
	}
	return all, nil
}

// Member implements chat.Chat.
func (c *Client) Member(ctx context.Context, guildID, userID string) (chat.Member, error) {
	guild, user, err := ids(guildID, userID)
	if err != nil {
		return chat.Member{}, err
	}
	m, err := c.members.GetMember(guild, user, rest.WithCtx(ctx))
	if err != nil {
		return chat.Member{}, explain(err)
	}
	return memberOf(*m), nil
}

// SetRole implements chat.Chat.
func (c *Client) SetRole(ctx context.Context, guildID, userID, roleID string, given bool) error {
	guild, user, err := ids(guildID, userID)
	if err != nil {
		return err
	}
	role, err := snowflake.Parse(roleID)
	if err != nil {
		return chat.ErrUnknown
	}
	set := c.members.RemoveMemberRole
	if given {
		set = c.members.AddMemberRole
	}
	return explain(set(guild, user, role, rest.WithCtx(ctx), rest.WithReason("level")))
}

// Post implements chat.Chat.
func (c *Client) Post(ctx context.Context, channelID, text string, mentions ...string) error {
	channel, err := snowflake.Parse(channelID)
	if err != nil {
		return err
	}
	allowed := &discord.AllowedMentions{Parse: []discord.AllowedMentionType{}}
	for _, user := range mentions {
		id, err := snowflake.Parse(user)
		if err != nil {
			return err
		}
		allowed.Users = append(allowed.Users, id)
	}
	_, err = c.channels.CreateMessage(channel, discord.MessageCreate{Content: text, AllowedMentions: allowed}, rest.WithCtx(ctx))
	return explain(err)
}

func memberOf(m discord.Member) chat.Member {
	roles := make([]string, len(m.RoleIDs))
	for i, role := range m.RoleIDs {
		roles[i] = role.String()
	}
	return chat.Member{ID: m.User.ID.String(), Roles: roles, Bot: m.User.Bot || m.User.System}
}

func ids(guildID, userID string) (guild, user snowflake.ID, err error) {
	guild, guildErr := snowflake.Parse(guildID)
	user, userErr := snowflake.Parse(userID)
	return guild, user, errors.Join(guildErr, userErr)
}

// explain returns the error as package chat names it.
func explain(err error) error {
	failed, ok := errors.AsType[*rest.Error](err)
	if !ok || failed.Response == nil {
		return err
	}
	switch failed.Response.StatusCode {
	case http.StatusNotFound:
		return errors.Join(chat.ErrUnknown, err)
	case http.StatusForbidden, http.StatusUnauthorized:
		return errors.Join(chat.ErrForbidden, err)
	}
	return err
}
