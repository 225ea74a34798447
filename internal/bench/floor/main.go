// Command floor is what Levelboard is measured against: as little as answers a request at all, on the same router, client and
// encoder, without keys, limits, checks, snapshots and metrics. It also drives its own routes, with the client of `levelboard bench`.
//
//	go run ./internal/bench/floor -redis redis://127.0.0.1:6379/1                       serve; fills a board of its own
//	go run ./internal/bench/floor -load get -url http://127.0.0.1:8090 -duration 10s    measure one: get, patch, zincrby, top100
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/bench/loadgen"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "where to listen")
	redisURL := flag.String("redis", "redis://127.0.0.1:6379/1", "Redis of zincrby and top100; the keys floor:* in it are replaced")
	load := flag.String("load", "", "do not serve, but measure this route of the floor at -url")
	base := flag.String("url", "http://127.0.0.1:8090", "the floor to measure")
	concurrency := flag.Int("concurrency", 64, "connections of -load")
	duration := flag.Duration("duration", 10*time.Second, "how long -load lasts")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *load != "" {
		err = measure(ctx, loadgen.AskOptions{Name: *load, URL: *base, Concurrency: *concurrency, Duration: *duration})
	} else {
		err = serve(ctx, *listen, *redisURL)
	}
	if err != nil {
		log.Fatalf("floor: %v", err)
	}
}

// measure puts load on the route of that name and prints a table.
func measure(ctx context.Context, o loadgen.AskOptions) error {
	var found bool
	if o.Requests, found = loadgen.FloorRequests(o.Name); !found {
		return fmt.Errorf("-load must be get, patch, zincrby or top100")
	}
	result, err := loadgen.Ask(ctx, o)
	if result != nil {
		err = errors.Join(result.WriteTable(os.Stdout), err)
	}
	return err
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
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: routes(client), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	log.Printf("floor: listening on %s", listener.Addr())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		_ = server.Close()
		<-ended
		return nil
	}
}
