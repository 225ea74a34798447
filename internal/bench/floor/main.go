// Command floor is what Levelboard is measured against: as little as answers a request at all, on the same router, client and
// encoder, without keys, limits, checks, snapshots and metrics. internal/bench/benchmark starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "where to listen")
	redisURL := flag.String("redis", "redis://127.0.0.1:6379/1", "Redis; the keys floor:* in it are replaced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *listen, *redisURL); err != nil {
		log.Fatalf("floor: %v", err)
	}
}

// serve fills the board and answers until ctx ends.
func serve(ctx context.Context, listen, redisURL string) error {
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		return errors.New("-redis must be a redis:// address")
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := fill(ctx, client); err != nil {
		return err
	}
	server := &http.Server{Addr: listen, Handler: routes(client), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
