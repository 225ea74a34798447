package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"levelboard/internal/app"
	"levelboard/internal/app/demo"
	"levelboard/internal/config"
	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/signin"
	"levelboard/internal/usecase/snapshot"
)

// The maximum values of the demo's flags. More members make the embedded board slow; for higher rates there is levelboard-bench.
const (
	maxDemoMembers = 200_000
	maxDemoRate    = 200
)

// demoOptions are the flags of demo.
type demoOptions struct {
	listen  string
	members int
	rate    float64
	seed    uint64
}

func (p *program) demoCommand() *cobra.Command {
	var o demoOptions
	command := p.command("demo", "Run the service with a made-up guild whose members are active", func(ctx context.Context, _ []string) error {
		switch {
		case o.members < 1 || o.members > maxDemoMembers:
			return usage("--members must be from 1 to %d", maxDemoMembers)
		case !(o.rate >= 0 && o.rate <= maxDemoRate):
			return usage("--rate must be from 0 to %d", maxDemoRate)
		}
		return p.demo(ctx, o)
	})
	command.Long = "Run the service, embedded, with a made-up guild (vanity demo) whose members gain XP while you watch. It\n" +
		"prints the board's address, a read/write key and calls to try. Everything is gone when it stops.\n\n" +
		"The commands guild and key, and levelboard-bench, work on it if the same LEVELBOARD_ADMIN_TOKEN is set for them and for the demo."
	flags := command.Flags()
	flags.StringVar(&o.listen, "listen", "", "address to listen on (default LEVELBOARD_LISTEN, else 127.0.0.1:8080)")
	flags.IntVar(&o.members, "members", 5000, "how many members")
	flags.Float64Var(&o.rate, "rate", 5, "how many times a second a member gains XP; 0 for never")
	flags.Uint64Var(&o.seed, "seed", 1, "the same seed makes the same members")
	return command
}

func (p *program) demo(ctx context.Context, o demoOptions) (err error) {
	dir, err := os.MkdirTemp("", "levelboard-demo-")
	if err != nil {
		return fmt.Errorf("make a directory for the demo: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cfg, err := p.settings(demoEnviron(p.Environ, dir, o.listen))
	if err != nil {
		return err
	}
	now := time.Now()
	rows := demo.Members(o.members, o.seed, now)
	s := service{cfg: cfg, log: newLogger(p.Stderr, cfg), localSignIn: demo.Visitors(visitor(rows))}
	return p.untilSignal(ctx, func(ctx context.Context) error {
		return s.run(ctx, func(ctx context.Context, a *app.App) error {
			key, err := seed(ctx, a, rows, now)
			if err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return fmt.Errorf("prepare the demo: %w", err)
			}
			p.introduce(a.URL(), key, o, rows[len(rows)/50].UserID, cfg.AdminToken == "")
			activity := demo.NewActivity(rows, o.seed)
			activity.URL, activity.Key, activity.Rate, activity.Log = a.URL(), key, o.rate, s.log
			var active sync.WaitGroup
			defer active.Wait()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			active.Go(func() { activity.Run(ctx) })
			return a.Wait(ctx)
		})
	})
}

// notForDemo are prefixes of settings that the demo ignores: it has no servers and no provider, and sets some of them itself.
var notForDemo = []string{"REDIS_", "POSTGRES_", "OAUTH_", "PUBLIC_URL", "DATA_DIR", "RATE_LIMIT_IDENTITY"}

// demoEnviron returns the settings of the demo: embedded in dir, quiet, and without
// a limit by identity, since its own activity and a visitor would share that.
func demoEnviron(given []string, dir, listen string) []string {
	environ := []string{"LEVELBOARD_LOG_LEVEL=warn"}
	for _, kv := range given {
		if !slices.ContainsFunc(notForDemo, func(prefix string) bool { return strings.HasPrefix(kv, config.Prefix+prefix) }) {
			environ = append(environ, kv)
		}
	}
	if listen != "" {
		environ = append(environ, "LEVELBOARD_LISTEN="+listen)
	}
	return append(environ, "LEVELBOARD_DATA_DIR="+dir, "LEVELBOARD_RATE_LIMIT_IDENTITY=0")
}

// visitor returns a member near the top of the board, to choose at sign-in.
func visitor(rows []snapshot.Row) signin.User {
	m := rows[len(rows)/40].Member
	u := signin.User{ID: m.UserID, Name: m.User.Username}
	if m.User.GlobalName != nil {
		u.Name = *m.User.GlobalName
	}
	return u
}

// seed creates the guild, its members and a key without a limit, and returns the key. The guild stays disabled
// until its members exist: a page of an earlier demo may still be open, and would load the guild too early.
func seed(ctx context.Context, a *app.App, rows []snapshot.Row, now time.Time) (key string, err error) {
	c := &client{base: a.URL(), token: a.AdminToken()}
	put := func(enabled bool) error {
		document, err := demo.Guild(len(rows), now, enabled)
		if err != nil {
			return err
		}
		_, _, err = c.call(ctx, request{method: http.MethodPut, path: guildPath(string(demo.GuildID)), body: document})
		return err
	}
	if err := put(false); err != nil {
		return "", err
	}
	if err := a.SeedMembers(ctx, demo.GuildID, rows); err != nil {
		return "", err
	}
	if err := put(true); err != nil {
		return "", err
	}
	_, answer, err := c.call(ctx, newKey{
		Name: "demo", OwnerID: string(demo.OwnerID), Permission: apikey.ReadWrite, GuildIDs: []string{string(demo.GuildID)}, RateLimit: new(0),
	}.request())
	if err != nil {
		return "", err
	}
	created, err := read[shownKey](answer)
	return created.Key, err
}

// introduce prints addresses and calls to paste, in one write, so that a program never reads half
// of it. ownToken says that the demo made its own admin token, so that no other command knows it.
func (p *program) introduce(base, key string, o demoOptions, user id.User, ownToken bool) {
	board := fmt.Sprintf("%s/v2/levels/%s?page=1", base, demo.Vanity)
	page := fmt.Sprintf("%s/leaderboard/%s", base, demo.Vanity)
	call := curl(key, fmt.Sprintf("%s/v2/levels/%s/users/%s", base, demo.GuildID, user))
	manage := ""
	if ownToken {
		manage = "To use the commands guild and key on it, set the same LEVELBOARD_ADMIN_TOKEN, of 32 characters or more, for the demo and for them.\n\n"
	}
	p.printf(`The demo is up: the guild %s with %s, %g changes a second.

  Leaderboard     %s
  As JSON         %s
  Read/write key  %s
  Guild           %s

The first page of the board, which needs no key:
  curl -s '%s'
A member's level and rank:
  %s
25 XP more for that member:
  %s -X PATCH -H 'Content-Type: application/json' -d '{"xp":{"increment":25}}'

To bring a Discord server, run levelboard-bot beside a service that stays: docs/bot.md.

%sCtrl+C stops it and removes everything.
`, demo.GuildName, count(o.members, "member"), o.rate, page, board, key, demo.GuildID, board, call, call, manage)
}
