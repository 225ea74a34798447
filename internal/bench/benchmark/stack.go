package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"levelboard/internal/platform/pause"
)

// startAll starts the service and the floor, which shares the service's Redis, in another database, so that both have the same.
func (b *bencher) startAll(ctx context.Context) error {
	if _, err := b.startService(ctx); err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	where, err := url.Parse(b.redisURL)
	if err != nil {
		return errors.New("LEVELBOARD_REDIS_URL is malformed")
	}
	where.Path = "/1"
	b.floorURL = "http://" + address
	b.floor, _, err = startProcess(ctx, b.floorURL+"/get", b.options.floor, "-listen", address, "-redis", where.String())
	return err
}

// startService starts the service, with its settings from the environment, and says how long it took to be ready.
func (b *bencher) startService(ctx context.Context) (took time.Duration, err error) {
	b.service, took, err = startProcess(ctx, b.ops+"/readyz", b.levelboard, "serve")
	return took, err
}

func (b *bencher) restartService(ctx context.Context) (time.Duration, error) {
	if err := b.service.stop(); err != nil {
		return 0, err
	}
	return b.startService(ctx)
}

func (b *bencher) stopAll() error {
	http.DefaultClient.CloseIdleConnections()
	adminClient.CloseIdleConnections()
	return errors.Join(b.service.stop(), b.floor.stop())
}

const (
	settleTime = 15 * time.Minute // that the archive may need after a fill
	settleTold = 5 * time.Second  // a longer wait is told
	settlePoll = 200 * time.Millisecond
)

// settle waits until the archive has all members and Redis has rewritten its file, so that one load does not pay for the one before.
func (b *bencher) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	began := time.Now()
	for {
		reason := b.unsettled(ctx)
		if reason == nil {
			if took := time.Since(began); took > settleTold {
				log.Printf("the servers came to rest in %s", took.Round(time.Second))
			}
			return nil
		}
		if !pause.For(ctx, settlePoll) {
			return fmt.Errorf("the servers do not come to rest: %w", reason)
		}
	}
}

// unsettled says why not. A service that is still busy may have nothing to say of its backlog.
func (b *bencher) unsettled(ctx context.Context) error {
	left, err := b.gauge(ctx, "levelboard_snapshot_backlog_members")
	if err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%.0f members are not in the archive", left)
	}
	rewriting, err := b.redisInfo(ctx, "persistence", "aof_rewrite_in_progress")
	if err == nil && rewriting != "0" {
		err = errors.New("an append-only file is being rewritten")
	}
	return err
}

// gauge is the value of a metric without labels.
func (b *bencher) gauge(ctx context.Context, name string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.ops+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, errors.New("the service's metrics cannot be read")
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 16<<20))
	if err != nil {
		return 0, errors.New("the service's metrics cannot be read")
	}
	found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("the service has no metric %s", name)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}
