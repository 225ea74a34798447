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
)

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
	life, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(longestStop, done) })()
	c.running, life = errgroup.WithContext(life)
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
