package bot

import (
	"context"
	"fmt"
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
		if chats.Connected() {
			return 1
		}
		return 0
	}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics.Handler(registry))
	mux.HandleFunc("GET /livez", health.Live)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pingTime)
		defer cancel()
		status, text := http.StatusOK, "ok"
		switch {
		case !chats.Connected():
			status, text = http.StatusServiceUnavailable, "not ready: the bot is not connected to Discord"
		case client.Ping(ctx) != nil:
			status, text = http.StatusServiceUnavailable, "not ready: Levelboard does not respond"
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text + "\n"))
	})
	server := &http.Server{Addr: listener.Addr().String(), Handler: mux, ReadTimeout: readTime, WriteTimeout: readTime}
	go func() { _ = server.Serve(listener) }() // until Close
	return server, nil
}
