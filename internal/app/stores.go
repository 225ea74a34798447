package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"levelboard/internal/config"
	"levelboard/internal/store"
	"levelboard/internal/store/embedded"
	"levelboard/internal/store/redisconn"
	"levelboard/internal/store/redisstore"
)

type stores struct {
	archive store.Archive
	queries queryMetrics
	client  *redisconn.Client
	live    *redisstore.Store
}

// embeddedTimeout bounds one command to the embedded Redis, which may be slow but not unreachable. A request times out sooner.
const embeddedTimeout = 30 * time.Second

// openStores opens the archive first, because nothing can be served before its
// migrations. Redis may be down at first; until it answers, the service is not ready.
func (a *App) openStores(ctx context.Context) (err error) {
	s := &stores{queries: newQueryMetrics()}
	a.stores = s
	redisURL := a.cfg.RedisURL
	connect := connectOptions(a.cfg)
	connect.Tracer = a.tracing.Tracer()
	if a.cfg.Embedded() {
		redisURL, err = a.startEmbedded()
		// The embedded Redis is slow with a large board and many requests.
		connect.Timeout, connect.URLNow = embeddedTimeout, nil
	}
	if err == nil {
		s.archive, err = openArchive(ctx, a.cfg, a.observeQueries(s.queries))
	}
	if err != nil {
		return err
	}
	a.closers = append(a.closers, closer{"the archive", func() error { s.archive.Close(); return nil }})
	if err := s.archive.Migrate(ctx); err != nil {
		return archiveRefusal(err)
	}
	if s.client, err = redisconn.Connect(redisURL, connect); err != nil {
		return fmt.Errorf("LEVELBOARD_REDIS_URL: %w", err)
	}
	a.closers = append(a.closers, closer{"the Redis client", func() error { return s.client.Close() }})
	s.live = redisstore.New(s.client, redisstore.Options{OnceTTL: a.cfg.IdempotencyTTL})
	return a.tryRedis(ctx)
}

// connectOptions returns the configured options of Redis, except its URL.
func connectOptions(cfg config.Config) (o redisconn.ConnectOptions) {
	// A command may take twice as long as a request waits for a silent server, so that a slow server can still answer.
	o.Timeout = 2 * cfg.RedisTimeout
	o.TLS = cfg.RedisTLS
	o.URLNow = cfg.RedisURLNow
	o.Waiting = redisconn.Waiting{Replicas: cfg.RedisWaitReplicas, Timeout: cfg.RedisWaitTimeout}
	switch cfg.RedisMode {
	case config.Cluster:
		o.Cluster = true
	case config.Sentinel:
		o.Sentinel = &redisconn.SentinelOptions{
			Master: cfg.RedisMaster, Username: cfg.RedisSentinelUsername, Password: cfg.RedisSentinelPassword,
		}
	}
	return o
}

// startEmbedded locks the data directory and starts the in-process Redis.
func (a *App) startEmbedded() (redisURL string, err error) {
	if err := a.lockDataDir(); err != nil {
		return "", err
	}
	if a.adminToken == "" {
		if a.adminToken, err = adminTokenIn(a.cfg.DataDir); err != nil {
			return "", err
		}
	}
	server, err := embedded.StartRedis()
	if err != nil {
		return "", err
	}
	a.closers = append(a.closers, closer{"the embedded Redis", func() error { server.Close(); return nil }})
	return server.URL(), nil
}

func archivePath(cfg config.Config) string {
	return filepath.Join(cfg.DataDir, "archive.db")
}

// lockDataDir keeps a second process out. Two processes would have different boards and overwrite each other's snapshots.
func (a *App) lockDataDir() error {
	if err := os.MkdirAll(a.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	lock := flock.New(filepath.Join(a.cfg.DataDir, "lock"), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock the data directory: %w", err)
	}
	if !held {
		return fmt.Errorf("the data directory %s is in use by another levelboard; stop it, or set LEVELBOARD_DATA_DIR", a.cfg.DataDir)
	}
	a.closers = append(a.closers, closer{"the data directory", func() error { return lock.Unlock() }})
	return nil
}

// adminTokenIn reads the admin token from the data directory, or creates it at the first start. Only the user who runs the service can read it.
func adminTokenIn(dataDir string) (string, error) {
	path := filepath.Join(dataDir, config.AdminTokenFile)
	kept, err := os.ReadFile(path)
	if err == nil {
		if token := strings.TrimSpace(string(kept)); len(token) >= 32 {
			return token, nil
		}
		return "", fmt.Errorf("%s holds fewer than 32 characters; delete it to have a new token made", path)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the admin token: %w", err)
	}
	token := rand.Text() + rand.Text()
	if err := os.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the admin token: %w", err)
	}
	return token, nil
}
