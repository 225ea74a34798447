// Command benchmark measures a Levelboard beside the floors of internal/bench/floor, on servers that it is given and that nobody else
// uses, and writes docs/benchmarks.md. `make bench` starts the servers and runs it.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/redis/go-redis/v9"
)

// options are the flags, and what the environment says of the servers.
type options struct {
	levelboard, floorProgram string
	each                     time.Duration // of each load
	rounds                   int           // whose medians are reported
	quick                    bool          // smaller boards
	page                     string        // path of benchmarks.md; empty prints it
	commit, postgres         string        // versions
	redisURL, url, ops       string
	token                    string
}

func main() {
	var o options
	flag.StringVar(&o.levelboard, "levelboard", "", "the service's program")
	flag.StringVar(&o.floorProgram, "floor", "", "the program of internal/bench/floor")
	flag.DurationVar(&o.each, "time", 4*time.Second, "how long each load lasts")
	flag.IntVar(&o.rounds, "rounds", 3, "how many rounds; the medians are reported")
	flag.BoolVar(&o.quick, "quick", false, "small boards, to see that everything works")
	flag.StringVar(&o.page, "page", "", "write the page to this file (default standard output)")
	flag.StringVar(&o.commit, "commit", "", "what is measured")
	flag.StringVar(&o.postgres, "postgres", "", "version of Postgres")
	flag.Parse()
	o.redisURL, o.token = os.Getenv("LEVELBOARD_REDIS_URL"), os.Getenv("LEVELBOARD_ADMIN_TOKEN")
	o.url, o.ops = "http://"+os.Getenv("LEVELBOARD_LISTEN"), "http://"+os.Getenv("LEVELBOARD_OPS_LISTEN")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetFlags(log.Ltime)
	if err := measure(ctx, o); err != nil {
		log.Fatalf("benchmark: %v", err)
	}
}

//go:embed page.md
var page string

// tables are what the page's template shows, in Markdown.
type tables struct {
	Machine, Ratios, Messages, Size, Growth string
}

// measure takes all measures and writes the page. The boards of growth are large, so they come last.
func measure(ctx context.Context, o options) (err error) {
	settings, err := redis.ParseURL(o.redisURL)
	if err != nil {
		return errors.New("LEVELBOARD_REDIS_URL must be a redis:// address; run this by `make bench`")
	}
	b := &bencher{options: o, redis: redis.NewClient(settings), ready: map[board]bool{}}
	defer b.redis.Close()
	defer func() { err = errors.Join(err, b.stopAll()) }()
	if err := b.startAll(ctx); err != nil {
		return err
	}
	var t tables
	for _, part := range []struct {
		name    string
		measure func(*bencher, context.Context) (string, error)
		text    *string
	}{
		{"machine", (*bencher).machine, &t.Machine}, {"ratios", (*bencher).ratios, &t.Ratios}, {"messages", (*bencher).messages, &t.Messages},
		{"size", (*bencher).size, &t.Size}, {"growth", (*bencher).growth, &t.Growth},
	} {
		log.Printf("--- %s", part.name)
		text, err := part.measure(b, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		*part.text = strings.TrimSpace(text)
	}
	text, err := render(t)
	if err != nil {
		return err
	}
	if o.page == "" {
		fmt.Print(text)
		return nil
	}
	return os.WriteFile(o.page, []byte(text), 0o644)
}

func render(t tables) (string, error) {
	parsed, err := template.New("page").Parse(page)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = parsed.Execute(&text, t)
	return text.String(), err
}
