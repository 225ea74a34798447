package discord

import (
	"context"
	"errors"
	"net/http"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"
	"github.com/hashicorp/go-retryablehttp"

	"levelboard/internal/bot/chat"
)

const (
	membersPage = 1000
	retries     = 20 // after 429
)

// patient returns a client that waits as long as Discord says after 429, and then sends the request again. disgo's rate limiter keeps most of them from
// happening, but takes no 429 without a bucket.
func patient() *http.Client {
	client := retryablehttp.NewClient()
	client.Logger, client.RetryMax, client.ErrorHandler = nil, retries, retryablehttp.PassthroughErrorHandler
	client.HTTPClient.Transport.(*http.Transport).ResponseHeaderTimeout = answerTime
	client.CheckRetry = func(ctx context.Context, answer *http.Response, err error) (bool, error) {
		return err == nil && answer.StatusCode == http.StatusTooManyRequests, ctx.Err()
	}
	return client.StandardClient()
}

type object = map[string]any

// call makes a call. Its errors are as package chat names them.
func (c *Client) call(ctx context.Context, endpoint *rest.CompiledEndpoint, body, answer any) error {
	err := c.rest.Do(endpoint, body, answer, rest.WithCtx(ctx))
	switch statusOf(err) {
	case http.StatusNotFound:
		return errors.Join(chat.ErrUnknown, err)
	case http.StatusForbidden, http.StatusUnauthorized:
		return errors.Join(chat.ErrForbidden, err)
	}
	return err
}

// statusOf returns the status of an answer that is no success, or 0.
func statusOf(err error) int {
	if failed, ok := errors.AsType[*rest.Error](err); ok && failed.Response != nil {
		return failed.Response.StatusCode
	}
	return 0
}

// Guild implements chat.Chat.
func (c *Client) Guild(ctx context.Context, guildID string) (chat.Guild, error) {
	var g struct {
		Name, Icon string
		OwnerID    string `json:"owner_id"`
		SystemID   string `json:"system_channel_id"`
		Roles      []struct {
			chat.Role
			Permissions discord.Permissions
		}
	}
	var channels []channel
	err := errors.Join(c.call(ctx, rest.GetGuild.Compile(nil, guildID), nil, &g), c.call(ctx, rest.GetGuildChannels.Compile(nil, guildID), nil, &channels))
	facts := chat.Guild{Name: g.Name, Icon: g.Icon, OwnerID: g.OwnerID, SystemChannelID: g.SystemID, Roles: []chat.Role{}, Channels: []chat.Channel{}}
	for _, r := range g.Roles {
		r.Administrator, r.Position = r.Permissions.Has(discord.PermissionAdministrator), max(0, r.Position)
		if r.ID != guildID { // @everyone
			facts.Roles = append(facts.Roles, r.Role)
		}
	}
	for _, ch := range channels {
		ch.Channel.ParentID, ch.Position = ch.ParentID, max(0, ch.Position)
		facts.Channels = append(facts.Channels, ch.Channel)
	}
	return facts, err
}

// Members implements chat.Chat.
func (c *Client) Members(ctx context.Context, guildID string) (all []chat.Member, err error) {
	for last, full := "0", true; full; {
		var page []member
		query := discord.QueryValues{"limit": membersPage, "after": last}
		if err := c.call(ctx, rest.GetMembers.Compile(query, guildID), nil, &page); err != nil {
			return nil, err
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
	var m member
	err := c.call(ctx, rest.GetMember.Compile(nil, guildID, userID), nil, &m)
	return m.User.member(m.Roles), err
}

// SetRole implements chat.Chat.
func (c *Client) SetRole(ctx context.Context, guildID, userID, roleID string, given bool) error {
	endpoint := rest.RemoveMemberRole
	if given {
		endpoint = rest.AddMemberRole
	}
	return c.call(ctx, endpoint.Compile(nil, guildID, userID, roleID), nil, nil)
}

// Post implements chat.Chat.
func (c *Client) Post(ctx context.Context, channelID, text string, mentions ...string) error {
	message := object{"content": text, "allowed_mentions": object{"parse": []string{}, "users": append([]string{}, mentions...)}}
	return c.call(ctx, rest.CreateMessage.Compile(nil, channelID), message, nil)
}
