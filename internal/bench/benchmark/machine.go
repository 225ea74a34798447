package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// machine is a line about where and when it was measured.
func (b *bencher) machine(ctx context.Context) (string, error) {
	info, err := b.redisInfo(ctx, "server", "redis_version")
	if err != nil {
		return "", err
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	load, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(load), " ")
	size := ""
	if b.quick {
		size = " Quick: boards of a tenth of the size."
	}
	return fmt.Sprintf("Measured %s at %s: %s each, medians of %d. %d processors (%s), %s %s %s, %s, Redis %s (append-only file, everysec), %s (its defaults). Load average before it: %s.%s",
		time.Now().UTC().Format(time.DateOnly), b.commit, b.seconds, b.rounds, runtime.NumCPU(), processor(), runtime.GOOS, strings.TrimSpace(string(kernel)), runtime.GOARCH,
		runtime.Version(), info, b.postgres, minute, size), nil
}

// processor is the name of this machine's processor.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	if found := regexp.MustCompile(`(?m)^model name\s*: (.+)$`).FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return "unknown"
}

// redisInfo is one value of INFO.
func (b *bencher) redisInfo(ctx context.Context, section, name string) (string, error) {
	text, err := b.redis.Info(ctx, section).Result()
	if err != nil {
		return "", fmt.Errorf("ask Redis about itself: %w", err)
	}
	found := regexp.MustCompile(`(?m)^` + name + `:([^\r\n]*)`).FindStringSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("no %s in what Redis says about itself", name)
	}
	return found[1], nil
}
