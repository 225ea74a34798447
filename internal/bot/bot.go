// Package bot is levelboard-bot: it connects Discord guilds to a Levelboard. It joins keeper, which knows XP and no Discord, and discord, which
// knows Discord and no XP.
package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/discord"
	"levelboard/internal/bot/keeper"
	"levelboard/internal/bot/queue"
	"levelboard/internal/platform/logs"
)

const (
	queueLimit = 100_000 // messages and changes of presence
	seenLimit  = 10_000  // messages that count once when Discord delivers them twice
)

// Main runs the bot until SIGINT or SIGTERM, or asks a running one for its health, and returns the exit code: 0, 1 for a failure, 2 for wrong settings.
func Main(args, environ []string, version string, stderr io.Writer) int {
	settings, err := Load(environ)
	if err == nil && len(args) > 0 {
		if args[0] == "healthcheck" {
			return healthcheck(settings.OpsListen, stderr)
		}
		err = errors.New("usage: levelboard-bot, with its settings in the environment (docs/bot.md), or levelboard-bot healthcheck")
	}
	if err != nil {
		fmt.Fprintf(stderr, "levelboard-bot: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // another signal ends the bot at once
	if err := Run(ctx, settings, version, stderr); err != nil {
		fmt.Fprintf(stderr, "levelboard-bot: %v\n", err)
		return 1
	}
	return 0
}

// Run runs the bot until ctx ends, and then sends what is queued for at most ten seconds.
func Run(ctx context.Context, s Settings, version string, out io.Writer) error {
	log := slog.New(logs.NewHandler(handler(s, out), time.Now))
	lock, err := lockData(s.Data)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	q, err := queue.Open(filepath.Join(s.Data, "queue"), queueLimit)
	if err != nil {
		return err
	}
	seen, err := queue.OpenSeen(filepath.Join(s.Data, "seen"), seenLimit)
	if err != nil {
		return err
	}
	client := api.New(s.URL)
	keeps := keeper.New(keeper.Options{
		Client: client, AdminToken: s.AdminToken, Key: s.Key, PublicURL: s.PublicURL, Announce: s.Announce, HideRoles: s.HideRoles,
		Dir: s.Data, Queue: q, Seen: seen, Log: log,
	})
	chats := discord.New(discord.Options{Token: s.Token, URL: s.DiscordURL, Commands: keeper.Commands(), Log: log, Listener: keeps})
	ops, err := startOps(s.OpsListen, version, chats, client)
	if err != nil {
		return err
	}
	defer ops.Close()
	log.Info("levelboard-bot starts", "version", version, "levelboard", s.URL, "ops", ops.Addr)

	// The keeper stops after Discord, so that it has all that Discord sent.
	connected, disconnect := context.WithCancel(ctx)
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer disconnect()
	ended := make(chan error, 1)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		keeps.Run(keeping, chats, func() {
			go func() { ended <- chats.Run(connected) }()
		})
	}()
	err = <-ended
	stop()
	<-kept
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

func handler(s Settings, out io.Writer) slog.Handler {
	options := &slog.HandlerOptions{Level: s.LogLevel}
	if s.LogFormat == "json" {
		return slog.NewJSONHandler(out, options)
	}
	return slog.NewTextHandler(out, options)
}

// lockData makes the data directory and keeps a second bot out: both would send the queue.
func lockData(dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if !held {
		return nil, fmt.Errorf("the data directory %s is in use by another levelboard-bot: stop it, or set LEVELBOARD_BOT_DATA", dir)
	}
	return lock, nil
}
