package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/bench/loadgen"
	"levelboard/internal/platform/pause"
)

const (
	settleTime = 10 * time.Minute // that the archive may need after a fill
	settlePoll = 200 * time.Millisecond
)

// startAll starts the service and the floor, which has another database of the same Redis.
func (b *bencher) startAll(ctx context.Context) error {
	if _, err := b.restartService(ctx); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	_ = listener.Close()
	where, err := url.Parse(b.redisURL)
	if err != nil {
		return errors.New("LEVELBOARD_REDIS_URL is malformed")
	}
	where.Path = "/1"
	b.floorURL = "http://" + address
	b.floor, _, err = startProcess(ctx, b.floorURL+"/get/", b.floorProgram, "-listen", address, "-redis", where.String())
	return err
}

// restartService starts the service, after a stop if it runs, and says how long the start took.
func (b *bencher) restartService(ctx context.Context) (took time.Duration, err error) {
	if err := b.service.stop(); err != nil {
		return 0, err
	}
	b.service, took, err = startProcess(ctx, b.ops+"/readyz", b.levelboard, "serve")
	return took, err
}

func (b *bencher) stopAll() error {
	http.DefaultClient.CloseIdleConnections()
	return errors.Join(b.service.stop(), b.floor.stop())
}

// settle waits until the archive has all members and Redis has rewritten its file, so that one load does not pay for the one before.
func (b *bencher) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()
	for {
		reason := b.unsettled(ctx)
		if reason == nil {
			return nil
		}
		if !pause.For(ctx, settlePoll) {
			return fmt.Errorf("the servers do not come to rest: %w", reason)
		}
	}
}

// unsettled says why not. A service that is still busy may not answer.
func (b *bencher) unsettled(ctx context.Context) error {
	left, err := loadgen.Gauges(ctx, b.ops, loadgen.BacklogGauge)
	if err != nil {
		return err
	}
	if left[0] > 0 {
		return fmt.Errorf("%.0f members are not in the archive", left[0])
	}
	rewriting, err := b.redisInfo(ctx, "persistence", "aof_rewrite_in_progress")
	if err == nil && rewriting != "0" {
		err = errors.New("an append-only file is being rewritten")
	}
	return err
}

// redisInfo is one value of INFO.
func (b *bencher) redisInfo(ctx context.Context, section, name string) (string, error) {
	text, err := b.redis.Info(ctx, section).Result()
	if err != nil {
		return "", fmt.Errorf("ask Redis about itself: %w", err)
	}
	found := regexp.MustCompile(`(?m)^` + name + `:([^\r\n]*)`).FindStringSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("no %s in the INFO of Redis", name)
	}
	return found[1], nil
}

// cpu is the time that the service and Redis have had a processor since they started, in seconds.
func (b *bencher) cpu(ctx context.Context) (service, redis float64, err error) {
	used, err := loadgen.Gauges(ctx, b.ops, "process_cpu_seconds_total")
	if err != nil {
		return 0, 0, err
	}
	for _, name := range []string{"used_cpu_user", "used_cpu_sys"} {
		text, err := b.redisInfo(ctx, "cpu", name)
		if err != nil {
			return 0, 0, err
		}
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0, 0, fmt.Errorf("read %s of Redis: %w", name, err)
		}
		redis += seconds
	}
	return used[0], redis, nil
}

// machine says where, when and how the numbers were measured.
func (b *bencher) machine(ctx context.Context) (string, error) {
	version, err := b.redisInfo(ctx, "server", "redis_version")
	if err != nil {
		return "", err
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	cpus, _ := os.ReadFile("/proc/cpuinfo")
	processor := "unknown"
	if found := regexp.MustCompile(`(?m)^model name\s*: (.+)$`).FindSubmatch(cpus); found != nil {
		processor = string(found[1])
	}
	quick := ""
	if b.quick {
		quick = " **A quick run on small boards: only to see that everything works.**"
	}
	return fmt.Sprintf("Measured %s at %s: %s each, medians of %d. %d processors (%s), %s %s, %s, Redis %s, %s.%s",
		time.Now().UTC().Format(time.DateOnly), b.commit, b.each, b.rounds, runtime.NumCPU(), processor, runtime.GOOS, strings.TrimSpace(string(kernel)),
		runtime.Version(), version, b.postgres, quick), nil
}
