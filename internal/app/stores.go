package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/admin"
	"levelboard/internal/apikey"
	"levelboard/internal/changes"
	"levelboard/internal/config"
	"levelboard/internal/embedded"
	"levelboard/internal/guild"
	"levelboard/internal/postgres"
	"levelboard/internal/redisstore"
	"levelboard/internal/snapshot"
	"levelboard/internal/sqlite"
)

// archive is all that Postgres and SQLite are used for.
type archive interface {
	admin.Archive
	snapshot.Archive
	guild.Source
	apikey.Source
	changes.Log
	Migrate(ctx context.Context) error
	Ping(ctx context.Context) error
	Collector() prometheus.Collector
	Close()
}

type stores struct {
	archive archive
	client  redis.UniversalClient
	live    *redisstore.Store
	observe *redisstore.Metrics
}

// embeddedTimeout bounds one command to the embedded Redis.
const embeddedTimeout = 5 * time.Second

// openStores opens the archive first: without its migrations nothing can be served. Redis need not answer yet; until it
// does, the service says that it is not ready.
func (a *App) openStores(ctx context.Context) (err error) {
	s := &stores{}
	a.stores = s
	redisURL, connect := a.cfg.RedisURL, redisstore.ConnectOptions{}
	if a.cfg.Embedded() {
		redisURL, err = a.openEmbedded(ctx, s)
		// It cannot be away, only busy: sorting a large board for each of many requests takes its time.
		connect.Timeout = embeddedTimeout
	} else {
		s.archive, err = postgres.Open(ctx, a.cfg.PostgresURL)
	}
	if err != nil {
		return err
	}
	a.closers = append(a.closers, closer{"the archive", func(context.Context) error { s.archive.Close(); return nil }})
	if err := s.archive.Migrate(ctx); err != nil {
		return fmt.Errorf("prepare the archive: %w", err)
	}
	if s.client, err = redisstore.Connect(redisURL, connect); err != nil {
		return fmt.Errorf("LEVELBOARD_REDIS_URL: %w", err)
	}
	a.closers = append(a.closers, closer{"the Redis client", func(context.Context) error { return s.client.Close() }})
	s.observe = redisstore.NewMetrics(s.client)
	s.live = redisstore.New(s.client, redisstore.Options{Observe: s.observe.Observe})
	return nil
}

// openEmbedded starts the in-process Redis and opens the SQLite archive in the data directory.
func (a *App) openEmbedded(ctx context.Context, s *stores) (redisURL string, err error) {
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
	a.closers = append(a.closers, closer{"the embedded Redis", func(context.Context) error { server.Close(); return nil }})
	s.archive, err = sqlite.Open(ctx, archivePath(a.cfg))
	return server.URL(), err
}

func archivePath(cfg config.Config) string {
	return filepath.Join(cfg.DataDir, "archive.db")
}

// lockDataDir keeps a second process out: each would have boards of its own and write over the other's snapshots.
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
	a.closers = append(a.closers, closer{"the data directory", func(context.Context) error { return lock.Unlock() }})
	return nil
}

// Migration is one versioned change of the archive's tables. AppliedAt is zero when it is not applied yet.
type Migration struct {
	Version   int64
	Name      string
	AppliedAt time.Time
}

// Migrate applies the archive's migrations, as every start does.
func Migrate(ctx context.Context, cfg config.Config) error {
	if cfg.Embedded() {
		if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
			return fmt.Errorf("make the data directory: %w", err)
		}
		opened, err := sqlite.Open(ctx, archivePath(cfg))
		if err != nil {
			return err
		}
		defer opened.Close()
		return opened.Migrate(ctx)
	}
	opened, err := postgres.Open(ctx, cfg.PostgresURL)
	if err != nil {
		return err
	}
	defer opened.Close()
	return opened.Migrate(ctx)
}

// MigrationStatus lists the archive's migrations in the order of their versions. It changes nothing.
func MigrationStatus(ctx context.Context, cfg config.Config) ([]Migration, error) {
	var list []Migration
	if cfg.Embedded() {
		if _, err := os.Stat(archivePath(cfg)); errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("there is no archive in %s yet; levelboard serve or levelboard migrate up makes one", cfg.DataDir)
		}
		opened, err := sqlite.Open(ctx, archivePath(cfg))
		if err != nil {
			return nil, err
		}
		defer opened.Close()
		found, err := opened.MigrationStatus(ctx)
		for _, m := range found {
			list = append(list, Migration(m))
		}
		return list, err
	}
	opened, err := postgres.Open(ctx, cfg.PostgresURL)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	found, err := opened.MigrationStatus(ctx)
	for _, m := range found {
		list = append(list, Migration(m))
	}
	return list, err
}
