// Package discord is Discord as the bot needs it: the gateway, and REST and commands on disgo. It knows nothing of XP.
package discord

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"levelboard/internal/bot/chat"
)

// What ends the bot, with a sentence that says where to click.
var (
	ErrToken = errors.New("DISCORD_TOKEN is not the token of a bot: in the developer portal, choose your application, then Bot, and Reset Token; " +
		"set the new token, without \"Bot \" before it")
	ErrIntent = errors.New("the bot needs the Server Members Intent, to see who comes and goes: in the developer portal, choose your application, then Bot, " +
		"and switch on Server Members Intent under Privileged Gateway Intents")
)

// onTheirWay is how long a stop waits for events that Discord has sent already.
const onTheirWay = 300 * time.Millisecond

// Options are what a Client works with.
type Options struct {
	Token    string
	URL      string // of Discord; REST is under /api/v10
	Commands []chat.Command
	Log      *slog.Logger
	Listener chat.Listener
}

// Client is a connection to Discord. It implements chat.Chat.
type Client struct {
	Options
	rest         rest.Client
	interactions rest.Interactions

	gateway     string // its address
	identifying sync.Mutex
	identified  time.Time      // the last time
	registering sync.Once      // of the commands
	working     sync.WaitGroup // what registers and answers

	mu     sync.Mutex
	life   context.Context // ends with Run
	shards []*shard
	guilds map[string]*guild
}

// New returns a client that is not connected.
func New(o Options) *Client {
	quiet := slog.New(slog.DiscardHandler) // the library would log tokens and events
	client := rest.NewClient(o.Token, rest.WithURL(o.URL+"/api/v10"), rest.WithLogger(quiet), rest.WithHTTPClient(&http.Client{Transport: newPatient()}),
		rest.WithRateLimiterConfigOpts(rest.WithRateLimiterLogger(quiet)))
	nobody := discord.AllowedMentions{Parse: []discord.AllowedMentionType{}}
	return &Client{
		Options: o, rest: client, interactions: rest.NewInteractions(client, nobody), guilds: map[string]*guild{},
	}
}

// Run connects all shards, and returns when ctx ends, or with an error that no other attempt can mend.
func (c *Client) Run(ctx context.Context) error {
	life, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	at, err := c.gatewayAddress(ctx)
	if err != nil {
		return err
	}
	c.gateway = at.URL
	failed := make(chan error, max(1, at.Shards))
	var connected sync.WaitGroup
	c.mu.Lock()
	c.life = life
	for id := range max(1, at.Shards) {
		s := &shard{c: c, id: id, count: max(1, at.Shards)}
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
		time.Sleep(onTheirWay)
	case err = <-failed:
	}
	done()
	connected.Wait()
	c.working.Wait()
	return err
}

// gatewayAddress asks for the gateway until Discord answers.
func (c *Client) gatewayAddress(ctx context.Context) (*discord.GatewayBot, error) {
	for wait := time.Second; ; wait = min(2*wait, longestPause) {
		at, err := rest.NewGateway(c.rest).GetGatewayBot(rest.WithCtx(ctx))
		if err == nil {
			return at, nil
		}
		if failed, ok := errors.AsType[*rest.Error](err); ok && failed.Response != nil && failed.Response.StatusCode == http.StatusUnauthorized {
			return nil, ErrToken
		}
		c.Log.Warn("Discord does not respond; the bot tries again", "error", err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// Connected reports whether all shards have a session.
func (c *Client) Connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.shards {
		if !s.up.Load() {
			return false
		}
	}
	return len(c.shards) > 0
}
