// Command benchmark measures a Levelboard against the floors of internal/bench/floor, on servers that it is given and that nobody else
// uses, and writes the tables and the plot of docs/benchmarks.md. `make bench` starts the servers and runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// options are the flags, and what the environment says of the servers.
type options struct {
	levelboard, floor, bare string        // programs
	seconds                 time.Duration // of each load
	rounds                  int           // of which the medians are told
	quick                   bool          // smaller boards
	parts                   []string
	docs                    string // directory of benchmarks.md; empty writes none
	commit, postgres        string // versions
	redisURL, url, ops      string
	token                   string
}

func main() {
	var o options
	flag.StringVar(&o.levelboard, "levelboard", "", "the service's program")
	flag.StringVar(&o.floor, "floor", "", "the program of internal/floor")
	flag.StringVar(&o.bare, "bare", "", "the test program of internal/store/redisstore, which has the bare script's benchmark")
	flag.DurationVar(&o.seconds, "time", 10*time.Second, "how long each load lasts")
	flag.IntVar(&o.rounds, "rounds", 3, "how many rounds, of which the medians are told")
	flag.BoolVar(&o.quick, "quick", false, "boards of a tenth of the size, to see that everything works")
	parts := flag.String("parts", strings.Join(usualParts(), ","), "what to measure: of "+strings.Join(allParts(), ", "))
	flag.StringVar(&o.docs, "docs", "", "write the tables of benchmarks.md and latency.svg in this directory")
	flag.StringVar(&o.commit, "commit", "", "what is measured")
	flag.StringVar(&o.postgres, "postgres", "", "version of Postgres")
	flag.Parse()
	o.parts = strings.Split(*parts, ",")
	o.redisURL, o.token = os.Getenv("LEVELBOARD_REDIS_URL"), os.Getenv("LEVELBOARD_ADMIN_TOKEN")
	o.url, o.ops = "http://"+os.Getenv("LEVELBOARD_LISTEN"), "http://"+os.Getenv("LEVELBOARD_OPS_LISTEN")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetFlags(log.Ltime)
	if err := measure(ctx, o); err != nil {
		log.Fatalf("benchmark: %v", err)
	}
}

// part is a section of the docs. Its text is Markdown.
type part struct {
	name    string
	measure func(*bencher, context.Context) (text string, err error)
	page    string // of the docs; empty for benchmarks.md. Only the parts of that are measured unless others are asked for
}

// parts are in the order in which they are measured: the boards of growth are large, so they come late.
var parts = []part{
	{name: "ratios", measure: (*bencher).ratios},
	{name: "rates", measure: (*bencher).rates},
	{name: "messages", measure: (*bencher).messages},
	{name: "size", measure: (*bencher).size},
	{name: "growth", measure: (*bencher).growth},
	{name: "scaling", measure: (*bencher).scaling, page: "scaling.md"},
}

func allParts() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// usualParts are those that are measured when nobody says which.
func usualParts() (names []string) {
	for _, p := range parts {
		if p.page == "" {
			names = append(names, p.name)
		}
	}
	return names
}

// measure runs the parts that were asked for and prints each when it is there.
func measure(ctx context.Context, o options) (err error) {
	for _, name := range o.parts {
		if !slices.Contains(allParts(), name) {
			return fmt.Errorf("-parts are of %s; there is no %q", strings.Join(allParts(), ", "), name)
		}
	}
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
	machine, err := b.machine(ctx)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if !slices.Contains(o.parts, p.name) {
			continue
		}
		text, err := p.measure(b, ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		text += "\n" + machine + "\n"
		fmt.Printf("\n## %s\n\n%s", p.name, text)
		if err := b.document(p, text); err != nil {
			return err
		}
	}
	return nil
}
