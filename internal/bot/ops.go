package bot

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/discord"
	"levelboard/internal/bot/keeper"
	"levelboard/internal/platform/health"
	"levelboard/internal/platform/metrics"
)

const (
	pingTime = 2 * time.Second // how long Levelboard may take for /readyz
	readTime = 5 * time.Second // of a request to the ops listener
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
