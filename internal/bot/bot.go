// Package bot is levelboard-bot: it connects Discord guilds to a Levelboard. It joins keeper, which knows XP and no Discord, and discord, which
// knows Discord and no XP.
package bot

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/discord"
	"levelboard/internal/bot/keeper"
	"levelboard/internal/bot/store"
	"levelboard/internal/platform/health"
	"levelboard/internal/platform/logs"
	"levelboard/internal/platform/metrics"
)

// commands are the commands that the keeper answers, as Discord's API takes them.
//
//go:embed commands.json
var commands []byte

// Main runs the bot until SIGINT or SIGTERM, or asks a running one for its health, and returns the exit code: 0, 1 for a failure, 2 for wrong settings.
func Main(args, environ []string, version string, stderr io.Writer) int {
	if len(args) > 0 && args[0] != "healthcheck" {
		fmt.Fprintln(stderr, "usage: levelboard-bot, with its settings in the environment (docs/bot.md), or levelboard-bot healthcheck")
		return 2
	}
	settings, err := Load(environ)
	for tries := 0; errors.Is(err, fs.ErrNotExist) && tries < fileTries; tries++ { // a service that starts, too, makes the file of its token
		time.Sleep(time.Second)
		settings, err = Load(environ)
	}
	if err != nil {
		fmt.Fprintf(stderr, "levelboard-bot: %v\n", err)
		return 2
	}
	if len(args) > 0 {
		if err := health.Check(context.Background(), settings.OpsListen); err != nil {
			fmt.Fprintln(stderr, err)
			return 1
		}
		return 0
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
	log := slog.New(logs.NewHandler(logs.New(out, s.LogLevel, s.LogFormat == "json").Handler(), time.Now))
	kept, err := store.Open(s.Data, s.Queue)
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }()
	client := api.New(s.URL)
	// The keeper stops after Discord, so that it has all that Discord sent.
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	keeps := &keeper.Keeper{
		Life: keeping, Client: client, AdminToken: s.AdminToken, Key: s.Key, PublicURL: s.PublicURL, Announce: s.Announce, HideRoles: s.HideRoles,
		Store: kept, Tick: s.Tick, Log: log,
	}
	chats := discord.New(discord.Options{Token: s.Token, URL: s.DiscordURL, Tick: s.Tick, AnswerTime: s.AnswerTime, Commands: commands, Log: log, Guilds: keeps.Guild})
	keeps.Chat = chats
	ops, err := startOps(s.OpsListen, version, chats, client)
	if err != nil {
		return err
	}
	defer ops.Close()
	log.Info("levelboard-bot starts", "version", version, "levelboard", s.URL, "ops", ops.Addr)
	ended := make(chan error, 1)
	go func() {
		ended <- chats.Run(ctx)
		stop()
	}()
	keeps.Run()
	return <-ended
}

const (
	fileTries = 10              // for how many seconds the bot waits for the file of a secret
	pingTime  = 2 * time.Second // how long Levelboard may take for /readyz
	readTime  = 5 * time.Second // of a request to the ops listener
)

// startOps serves /metrics, /livez and /readyz.
func startOps(address, version string, chats *discord.Client, client *api.Client) (*http.Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s, which LEVELBOARD_OPS_LISTEN says: %w", address, err)
	}
	registry := metrics.NewRegistry(version)
	registry.MustRegister(keeper.Collectors()...)
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "levelboard_bot_connected", Help: "1 while every shard is connected to Discord.",
	}, func() float64 {
		if chats.Ping(context.Background()) == nil {
			return 1
		}
		return 0
	}))
	monitor := health.New(slog.New(slog.DiscardHandler), pingTime)
	monitor.Runs(health.Dependency{Name: "Discord", Needed: true, Ping: chats.Ping}, health.Dependency{Name: "Levelboard", Needed: true, Ping: client.Ping})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler(registry))
	mux.HandleFunc("GET /livez", health.Live)
	mux.HandleFunc("GET /readyz", monitor.Ready)
	server := &http.Server{Addr: listener.Addr().String(), Handler: mux, ReadTimeout: readTime, WriteTimeout: readTime}
	go func() { _ = server.Serve(listener) }() // until Close
	return server, nil
}
