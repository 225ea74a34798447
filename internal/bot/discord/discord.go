// Package discord is Discord as the bot needs it: the gateway, and REST and commands on disgo. It knows nothing of XP.
package discord

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"
	"github.com/hashicorp/go-retryablehttp"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/errgroup"

	"levelboard/internal/bot/chat"
	"levelboard/internal/platform/pause"
)

// What ends the bot, with a sentence that says where to click.
var (
	errToken = errors.New("DISCORD_TOKEN is not the token of a bot: in the developer portal, choose your application, then Bot, and Reset Token; " +
		"set the new token, without \"Bot \" before it")
	errIntent = errors.New("the bot needs the Server Members Intent, to see who comes and goes: in the developer portal, choose your application, then Bot, " +
		"and switch on Server Members Intent under Privileged Gateway Intents")
	errShards = errors.New("the bot is in more guilds than at its start, and needs more shards: start it again")
)

const (
	longestStop  = 5 * time.Second  // how long a stop waits for events that Discord has sent already
	longestPause = 60 * time.Second // between two attempts
	answerTime   = 20 * time.Second // how long Discord may take to begin an answer
	lookTime     = 3 * time.Second  // how long the events of a shard may wait for another answer
	retries      = 20               // after 429
	parentsKept  = 100_000          // channels whose parents are remembered
	membersPage  = 1000             // members in an answer
)

type object = map[string]any

// Options are what a Client works with.
type Options struct {
	Token    string
	URL      string          // of Discord; REST is under /api/v10
	Tick     time.Duration   // before the second attempt to connect
	Commands json.RawMessage // as Discord's API takes them
	Log      *slog.Logger
	Guilds   func(guildID string) chat.Listener

	AnswerTime time.Duration // how long a Listener may take for an answer
}

// Client is a connection to Discord. It implements chat.Chat.
type Client struct {
	Options
	rest         rest.Client
	interactions rest.Interactions

	gateway     string        // its address
	identifying chan struct{} // holds whose turn it is to begin a session
	running     *errgroup.Group
	parents     *lru.Cache[string, string] // of channels and threads

	mu     sync.Mutex
	shards []*shard
}

// New returns a client that is not connected.
func New(o Options) *Client {
	quiet := slog.New(slog.DiscardHandler) // the library would log tokens and events
	client := rest.NewClient(o.Token, rest.WithURL(o.URL+"/api/v10"), rest.WithLogger(quiet), rest.WithHTTPClient(patient()),
		rest.WithRateLimiterConfigOpts(rest.WithRateLimiterLogger(quiet)))
	nobody := discord.AllowedMentions{Parse: []discord.AllowedMentionType{}}
	parents, _ := lru.New[string, string](parentsKept) // refuses only sizes below 1
	return &Client{Options: o, rest: client, interactions: rest.NewInteractions(client, nobody), identifying: make(chan struct{}, 1), parents: parents}
}

// Run connects all shards, and returns when ctx ends, or with an error that no other attempt can mend.
func (c *Client) Run(ctx context.Context) error {
	var at *discord.GatewayBot
	err := c.insist(ctx, "Discord does not respond", func() (err error) {
		at, err = rest.NewGateway(c.rest).GetGatewayBot(rest.WithCtx(ctx))
		return err
	})
	if err != nil || ctx.Err() != nil {
		return err
	}
	c.running, ctx = errgroup.WithContext(ctx)
	life, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(longestStop, done) })()
	c.gateway = at.URL
	c.mu.Lock()
	for id := range max(1, at.Shards) {
		s := &shard{c: c, id: id, count: max(1, at.Shards)}
		c.shards = append(c.shards, s)
		c.running.Go(func() error { return s.run(ctx, life) })
	}
	c.mu.Unlock()
	c.running.Go(func() error { return c.register(ctx) })
	return c.running.Wait()
}

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

// insist repeats a call until it succeeds, Discord refuses the bot for good, or ctx ends.
func (c *Client) insist(ctx context.Context, failure string, call func() error) error {
	for wait := c.Tick; ; wait = min(2*wait, longestPause) {
		err := call()
		switch {
		case err == nil, ctx.Err() != nil:
			return nil
		case statusOf(err) == http.StatusUnauthorized:
			return errToken
		case errors.Is(err, errToken), errors.Is(err, errIntent), errors.Is(err, errShards):
			return err
		}
		c.Log.Warn(failure+"; the bot tries again", "error", err)
		pause.For(ctx, wait)
	}
}

// Ping returns nil if all shards have a session.
func (c *Client) Ping(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.shards) == 0 || slices.ContainsFunc(c.shards, func(s *shard) bool { return !s.up.Load() }) {
		return errors.New("the bot is not connected")
	}
	return nil
}

// patient returns a client that repeats a request after 429, when Discord says. disgo's limiter avoids most of them, but takes none without a bucket.
func patient() *http.Client {
	client := retryablehttp.NewClient()
	client.Logger, client.RetryMax, client.ErrorHandler = nil, retries, retryablehttp.PassthroughErrorHandler
	client.HTTPClient.Transport.(*http.Transport).ResponseHeaderTimeout = answerTime
	client.CheckRetry = func(ctx context.Context, answer *http.Response, err error) (bool, error) {
		return err == nil && answer.StatusCode == http.StatusTooManyRequests && ctx.Err() == nil, nil
	}
	return client.StandardClient()
}

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
		if err := c.call(ctx, rest.GetMembers.Compile(discord.QueryValues{"limit": membersPage, "after": last}, guildID), nil, &page); err != nil {
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
