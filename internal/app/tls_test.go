package app_test

import (
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"levelboard/internal/app"
	"levelboard/internal/testing/testenv"
)

const storePassword = "a-Password/that:n0body@sees"

// serves uses a service as clients do: a change, a member, a page and a snapshot that a second start loads.
func serves(t *testing.T, environ ...string) {
	t.Helper()
	s := start(t, append(environ, often)...)
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	s.patch(key, g, u, object{"increment": 2})
	if got := s.board(key, g, 1); len(got.Levels) != 1 || got.Levels[0].XP != 7 {
		t.Errorf("the page shows %+v, want one member with 7 XP", got.Levels)
	}
	s.ops("/readyz").Want(t, 200)
	s.stop(t)
	s = start(t, environ...)
	if xp := s.member(key, g, u).Level.XP; xp != 7 {
		t.Errorf("after a restart the member has %d XP, want 7", xp)
	}
}

// A service works with stores that require TLS and passwords.
func TestStoresOnTLSWithPasswords(t *testing.T) {
	t.Parallel()
	ca := testenv.NewCA(t)
	pair := ca.Loopback()
	archive := testenv.PostgresServer(t, testenv.WithPostgresTLS(ca, pair))
	postgresURL := "LEVELBOARD_POSTGRES_URL=" + archive.URL()
	trust := "LEVELBOARD_REDIS_CA_FILE=" + ca.File()
	t.Run("password", func(t *testing.T) {
		server := testenv.Redis(t, testenv.WithTLS(ca, pair), testenv.WithPassword(storePassword))
		serves(t, "LEVELBOARD_REDIS_URL="+server.URL(), postgresURL, trust)
	})
	t.Run("user and client certificate", func(t *testing.T) {
		server := testenv.Redis(t, testenv.WithTLS(ca, pair), testenv.WithClientCertificates(), testenv.WithPassword("another"),
			testenv.WithConfig("user levelboard on >"+storePassword+" ~* &* +@all"))
		client := ca.Issue("levelboard")
		serves(t, "LEVELBOARD_REDIS_URL="+server.URLFor("levelboard", storePassword), postgresURL, trust,
			"LEVELBOARD_REDIS_CERT_FILE="+client.CertFile, "LEVELBOARD_REDIS_KEY_FILE="+client.KeyFile)
	})
	t.Run("socket", func(t *testing.T) {
		server := testenv.Redis(t, testenv.WithPassword(storePassword), testenv.WithConfig("unixsocket redis.sock"))
		u := url.URL{Scheme: "unix", User: url.UserPassword("", storePassword), Path: server.Dir() + "/redis.sock", RawQuery: "db=1"}
		serves(t, "LEVELBOARD_REDIS_URL="+u.String(), postgresURL)
	})
}

// The start explains each mistake in the stores' connection settings without showing a secret.
func TestUnusableStoresAreExplained(t *testing.T) {
	t.Parallel()
	ca, stranger := testenv.NewCA(t), testenv.NewCA(t)
	pair, elsewhere := ca.Loopback(), ca.Issue("store.example.org")
	secure := testenv.Redis(t, testenv.WithTLS(ca, pair), testenv.WithPassword(storePassword))
	other := testenv.Redis(t, testenv.WithTLS(ca, elsewhere), testenv.WithPassword(storePassword))
	open := testenv.Redis(t, testenv.WithConfig("unixsocket redis.sock"))
	locked := testenv.Redis(t, testenv.WithPassword(storePassword), testenv.WithConfig("unixsocket redis.sock",
		"user weak on >"+storePassword+" ~* &* +ping"))
	archive := testenv.PostgresServer(t, testenv.WithPostgresTLS(ca, pair))
	misnamed := testenv.PostgresServer(t, testenv.WithPostgresTLS(ca, elsewhere))

	trust, distrust := "LEVELBOARD_REDIS_CA_FILE="+ca.File(), "LEVELBOARD_REDIS_CA_FILE="+stranger.File()
	redisAt := func(u string, more ...string) []string {
		return append(more, "LEVELBOARD_REDIS_URL="+u, "LEVELBOARD_POSTGRES_URL="+archive.URL())
	}
	postgresAt := func(u string) []string {
		return []string{"LEVELBOARD_REDIS_URL=" + open.URL(), "LEVELBOARD_POSTGRES_URL=" + u}
	}
	wrong := strings.NewReplacer(url.QueryEscape(storePassword), "an-0ther-Secret", "a-Password", "an-0ther-Secret")
	changed := func(raw, from, to string) string {
		if !strings.Contains(raw, from) {
			t.Fatalf("the URL lacks %s, which the case replaces", from)
		}
		return strings.Replace(raw, from, to, 1)
	}
	password, _ := mustParse(t, archive.URL()).User.Password()
	for _, c := range []struct {
		name    string
		environ []string
		want    string
	}{
		{"redis: the system's authorities", redisAt(secure.URL()), "set LEVELBOARD_REDIS_CA_FILE"},
		{"redis: another authority", redisAt(secure.URL(), distrust), "set LEVELBOARD_REDIS_CA_FILE"},
		{"redis: another host", redisAt(other.URL(), trust), "its TLS certificate is for another host"},
		{"redis: wrong password", redisAt(wrong.Replace(secure.URL()), trust), "does not accept the user or the password of LEVELBOARD_REDIS_URL"},
		{"redis: unknown user", redisAt(secure.URLFor("nobody", storePassword), trust), "does not accept the user or the password"},
		{"redis: no password", redisAt("redis://" + locked.Addr()), "it wants a password"},
		{"redis: no rights", redisAt(locked.URLFor("weak", storePassword)), "docs/security.md"},
		{"redis: socket, no password", redisAt("unix://" + locked.Dir() + "/redis.sock"), "it wants a password"},
		{"redis: socket, wrong password", redisAt("unix://:an-0ther-Secret@" + locked.Dir() + "/redis.sock"), "does not accept the user or the password"},
		{"postgres: the system's authorities", postgresAt(changed(archive.URL(), "&sslrootcert="+url.QueryEscape(ca.File()), "")), "set sslrootcert in LEVELBOARD_POSTGRES_URL"},
		{"postgres: another authority", postgresAt(changed(archive.URL(), url.QueryEscape(ca.File()), url.QueryEscape(stranger.File()))), "set sslrootcert in LEVELBOARD_POSTGRES_URL"},
		{"postgres: another host", postgresAt(misnamed.URL()), "its TLS certificate is for another host"},
		{"postgres: wrong password", postgresAt(changed(archive.URL(), password, "an-0ther-Secret")), "does not accept the user or the password of LEVELBOARD_POSTGRES_URL"},
		{"postgres: plain to TLS", postgresAt(changed(archive.URL(), "sslmode=verify-full", "sslmode=disable")), "set sslmode=verify-full in LEVELBOARD_POSTGRES_URL"},
		{"postgres: TLS to plain", postgresAt(changed(testenv.Postgres(t), "sslmode=disable", "sslmode=verify-full")), "it does not speak TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := startRefused(t, c.environ...)
			t.Log(err)
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error says %q, want %q in it", err, c.want)
			}
			for _, secret := range []string{storePassword, url.QueryEscape(storePassword), "an-0ther-Secret", password} {
				if strings.Contains(err.Error(), secret) {
					t.Error("the error contains a secret")
				}
			}
		})
	}
}

// startRefused starts a service that must fail, and returns its error.
func startRefused(t *testing.T, environ ...string) error {
	t.Helper()
	a, _ := build(t, app.Options{Logger: slog.New(slog.DiscardHandler)}, environ...)
	if err := a.Start(t.Context()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	defer cancel()
	_ = a.Stop(ctx)
	t.Fatal("the service started, want an error")
	return nil
}

func mustParse(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal("an address cannot be parsed")
	}
	return u
}
