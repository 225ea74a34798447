package discord

import (
	"context"
	"errors"
	"net/http"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"levelboard/internal/bot/chat"
)

const membersPage = 1000

// Members implements chat.Chat.
func (c *Client) Members(ctx context.Context, guildID string) ([]chat.Member, error) {
	var all []chat.Member
	for last, full := "0", true; full; {
		var page []memberObject
		query := discord.QueryValues{"limit": membersPage, "after": last}
		if err := c.rest.Do(rest.GetMembers.Compile(query, guildID), nil, &page, rest.WithCtx(ctx)); err != nil {
			return nil, explain(err)
		}
		for _, m := range page { // by id
			all = append(all, m.User.member(m.Roles))
			last = m.User.ID
		}
		full = len(page) == membersPage
	}
	return all, nil
}

// Member implements chat.Chat.
func (c *Client) Member(ctx context.Context, guildID, userID string) (chat.Member, error) {
	var m memberObject
	err := c.rest.Do(rest.GetMember.Compile(nil, guildID, userID), nil, &m, rest.WithCtx(ctx))
	return m.User.member(m.Roles), explain(err)
}

// SetRole implements chat.Chat.
func (c *Client) SetRole(ctx context.Context, guildID, userID, roleID string, given bool) error {
	endpoint := rest.RemoveMemberRole
	if given {
		endpoint = rest.AddMemberRole
	}
	return explain(c.rest.Do(endpoint.Compile(nil, guildID, userID, roleID), nil, nil, rest.WithCtx(ctx), rest.WithReason("level")))
}

// Post implements chat.Chat.
func (c *Client) Post(ctx context.Context, channelID, text string, mentions ...string) error {
	message := object{"content": text, "allowed_mentions": object{"parse": []string{}, "users": append([]string{}, mentions...)}}
	return explain(c.rest.Do(rest.CreateMessage.Compile(nil, channelID), message, nil, rest.WithCtx(ctx)))
}

// statusOf returns the status of an answer that is no success, or 0.
func statusOf(err error) int {
	if failed, ok := errors.AsType[*rest.Error](err); ok && failed.Response != nil {
		return failed.Response.StatusCode
	}
	return 0
}

// explain returns the error as package chat names it.
func explain(err error) error {
	switch statusOf(err) {
	case http.StatusNotFound:
		return errors.Join(chat.ErrUnknown, err)
	case http.StatusForbidden, http.StatusUnauthorized:
		return errors.Join(chat.ErrForbidden, err)
	}
	return err
}
