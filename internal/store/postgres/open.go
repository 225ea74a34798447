package postgres

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"levelboard/internal/store/sqlarchive"
)

const (
	// maxConns is enough for the writer's guilds at once and the reads of cold caches; pool_max_conns in the URL overrides it.
	maxConns = 10
	// connectTime is how long a new connection may take; connect_timeout in the URL overrides it.
	connectTime = 5 * time.Second
)

// serverLimits are set for each connection unless the URL sets them. The second ends the transaction, and with it the locks, of a replica
// that was paused or whose machine is gone, soon enough for the snapshot lease to pass on within two intervals of 5 seconds.
var serverLimits = map[string]string{
	"statement_timeout":                   "30000", // milliseconds
	"idle_in_transaction_session_timeout": "5000",
	"application_name":                    "levelboard",
}

// Open returns the archive at url, with the options of libpq and of pgxpool, without connecting. Its errors never hold the password. A pooler in
// between must keep a client on one connection for its session.
//
// Each new connection takes user and password from the URL that now returns; a nil now, or an error, keeps the last. observe, if set, is
// called after each query.
func Open(ctx context.Context, url string, now func() (string, error), observe Observer) (*Archive, error) {
	cfg, err := parse(url)
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = func() (string, error) { return url, nil }
	}
	cfg.BeforeConnect = fresh(now)
	if observe != nil {
		cfg.ConnConfig.Tracer = tracer{observe}
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, wrap("open", err)
	}
	db := stdlib.OpenDBFromPool(pool)
	return &Archive{pool: pool, Catalog: sqlarchive.Catalog{Reader: db, Writer: db, Dialect: dialect}}, nil
}

func parse(raw string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(raw)
	if err != nil {
		return nil, redacted(raw, err)
	}
	if !strings.Contains(raw, "pool_max_conns") {
		cfg.MaxConns = maxConns
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectTime
	}
	// The server plans each query at each run (0.1 ms). A cached plan may be from a time when a table was nearly empty, and would read all of
	// the table until the next ANALYZE.
	if !strings.Contains(raw, "default_query_exec_mode") {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	for name, value := range serverLimits {
		if _, set := cfg.ConnConfig.RuntimeParams[name]; !set {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	return cfg, nil
}

// fresh reads the URL, and the files for TLS and for the password that it names, again for each connection. While they cannot be read, or
// do not fit together, they may be just being replaced, and a connection gets what they held before.
func fresh(url func() (string, error)) func(context.Context, *pgx.ConnConfig) error {
	var last atomic.Pointer[pgxpool.Config]
	return func(_ context.Context, c *pgx.ConnConfig) error {
		if raw, err := url(); err == nil {
			if read, err := parse(raw); err == nil {
				last.Store(read)
			}
		}
		if read := last.Load(); read != nil {
			now := read.ConnConfig.Copy()
			c.User, c.Password, c.TLSConfig, c.Fallbacks = now.User, now.Password, now.TLSConfig, now.Fallbacks
		}
		return nil
	}
}

// redacted tells what is wrong with the URL, as long as that is sure not to repeat its password: in a URL with an
// unescaped character the password ends up in any part of the parser's message.
func redacted(raw string, cause error) error {
	const hint = "the Postgres URL cannot be parsed; it should look like " +
		"postgres://user:password@host:5432/database?sslmode=require, with special characters in the password escaped as %XX"
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return errors.New(hint)
	}
	password, _ := u.User.Password()
	said := cause.Error()
	for _, secret := range []string{password, u.Query().Get("password"), u.Query().Get("sslpassword")} {
		if secret != "" && (strings.Contains(said, secret) || strings.Contains(said, url.QueryEscape(secret))) {
			return errors.New(hint)
		}
	}
	return wrap("open", cause)
}
