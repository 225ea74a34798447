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

	"levelboard/internal/bot/chat"
	"levelboard/internal/platform/pause"
)

// What ends the bot, with a sentence that says where to click.
var (
	ErrToken = errors.New("DISCORD_TOKEN is not the token of a bot: in the developer portal, choose your application, then Bot, and Reset Token; " +
		"set the new token, without \"Bot \" before it")
	ErrIntent = errors.New("the bot needs the Server Members Intent, to see who comes and goes: in the developer portal, choose your application, then Bot, " +
		"and switch on Server Members Intent under Privileged Gateway Intents")
	ErrShards = errors.New("the bot is in more guilds than at its start, and needs more shards: start it again")
)

const (
	longestStop = 5 * time.Second  // how long a stop waits for events that Discord has sent already
	answerTime  = 20 * time.Second // how long Discord may take to begin an answer
)

// Options are what a Client works with.
type Options struct {
	Token    string
	URL      string          // of Discord; REST is under /api/v10
	Tick     time.Duration   // before the second attempt to connect
	Commands json.RawMessage // as Discord's API takes them
	Log      *slog.Logger
	Listener chat.Listener

	AnswerTime time.Duration // how long the Listener may take for an answer
}

// Client is a connection to Discord. It implements chat.Chat.
type Client struct {
	Options
	rest         rest.Client
	interactions rest.Interactions

	gateway     string         // its address
	identifying chan struct{}  // holds whose turn it is to begin a session
	registering sync.Once      // of the commands
	working     sync.WaitGroup // what registers and answers

	mu     sync.Mutex
	life   context.Context // ends with Run
	shards []*shard
	guilds map[string]*chat.Guild // no members, no messages
}

// New returns a client that is not connected.
func New(o Options) *Client {
	quiet := slog.New(slog.DiscardHandler) // the library would log tokens and events
	client := rest.NewClient(o.Token, rest.WithURL(o.URL+"/api/v10"), rest.WithLogger(quiet), rest.WithHTTPClient(patient()),
		rest.WithRateLimiterConfigOpts(rest.WithRateLimiterLogger(quiet)))
	nobody := discord.AllowedMentions{Parse: []discord.AllowedMentionType{}}
	return &Client{
		Options: o, rest: client, interactions: rest.NewInteractions(client, nobody), identifying: make(chan struct{}, 1), guilds: map[string]*chat.Guild{},
	}
}

// Run connects all shards, and returns when ctx ends, or with an error that no other attempt can mend.
func (c *Client) Run(ctx context.Context) error {
	life, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	var at *discord.GatewayBot
	err := c.insist(ctx, "Discord does not respond", func() (err error) {
		at, err = rest.NewGateway(c.rest).GetGatewayBot(rest.WithCtx(ctx))
		return err
	})
	if err != nil || ctx.Err() != nil {
		return err
	}
	c.gateway = at.URL
	count := max(1, at.Shards)
	failed := make(chan error, count)
	var connected sync.WaitGroup
	c.mu.Lock()
	c.life = life
	for id := range count {
		life, end := context.WithCancel(life)
		s := &shard{c: c, id: id, count: count, end: end}
		c.shards = append(c.shards, s)
		connected.Go(func() {
			if err := s.run(life); err != nil {
				failed <- err
			}
		})
	}
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		time.AfterFunc(longestStop, done)
		for _, s := range c.shards {
			s.leave()
		}
		connected.Wait()
	case err = <-failed:
	}
	done()
	connected.Wait()
	c.working.Wait()
	return err
}

// insist repeats a call until it succeeds, Discord does not take the token, or ctx ends.
func (c *Client) insist(ctx context.Context, failure string, call func() error) error {
	for wait := c.Tick; ; wait = min(2*wait, longestPause) {
		err := call()
		if statusOf(err) == http.StatusUnauthorized {
			return ErrToken
		}
		if err == nil || ctx.Err() != nil {
			return nil
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
