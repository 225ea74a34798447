package app_test

import (
	"net/url"
	"strings"
	"testing"

	"levelboard/internal/app"
	"levelboard/internal/config"
	"levelboard/internal/testing/testenv"
)

// A start and `migrate up` both say what an unprepared Postgres lacks and what to do.
func TestAnUnpreparedPostgresIsExplained(t *testing.T) {
	t.Parallel()
	archive := testenv.PostgresServer(t)
	sql := asOwner(t, archive.URL())
	sql("CREATE ROLE guest LOGIN PASSWORD '" + storePassword + "'")
	sql("REVOKE CREATE ON SCHEMA public FROM PUBLIC") // the default since Postgres 15
	none, foreign := mustParse(t, archive.URL()), mustParse(t, archive.URL())
	none.Path = "/nowhere"
	foreign.User = url.UserPassword("guest", storePassword)
	redis := testenv.Redis(t)
	for _, c := range []struct {
		name, url, want string
	}{
		{"no such database", none.String(), "it has no such database: docs/security.md has the commands that make it"},
		{"another's database", foreign.String(), "its user may not make tables there: make it the owner of the database (docs/security.md)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			environ := []string{"LEVELBOARD_REDIS_URL=" + redis.URL(), "LEVELBOARD_POSTGRES_URL=" + c.url}
			if err := startRefused(t, environ...); !strings.Contains(err.Error(), c.want) {
				t.Errorf("a start says %q, want %q in it", err, c.want)
			}
			cfg, _, err := config.Load(environ)
			if err != nil {
				t.Fatal(err)
			}
			if err := app.Migrate(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("migrate says %q, want %q in it", err, c.want)
			}
		})
	}
}

// The start names a server that cannot be used, and says what to do.
func TestUnusableServersAreExplained(t *testing.T) {
	t.Parallel()
	redis, postgres, nobody := testenv.Redis(t).URL(), testenv.Postgres(t), testenv.FreeAddr(t)
	for _, c := range []struct {
		name, redis, postgres, want, mode string
	}{
		{"a database that Redis does not have", strings.TrimSuffix(strings.TrimSuffix(redis, "0"), "/") + "/99", postgres, "it has no database of the number in LEVELBOARD_REDIS_URL", "single"},
		{"no cluster", redis, postgres, "set LEVELBOARD_REDIS_MODE=single", "cluster"},
		{"no Postgres", redis, "postgres://levelboard@" + nobody + "/levelboard", "Postgres does not answer at " + nobody, "single"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := startRefused(t, "LEVELBOARD_REDIS_URL="+c.redis, "LEVELBOARD_POSTGRES_URL="+c.postgres, "LEVELBOARD_REDIS_MODE="+c.mode); !strings.Contains(err.Error(), c.want) {
				t.Errorf("a start says %q, want %q in it", err, c.want)
			}
		})
	}
}
