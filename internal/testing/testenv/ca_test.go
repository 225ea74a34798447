//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package testenv

import (
	"net/url"
	"strings"
	"testing"
)

func TestRedisOnTLSTakesNothingElse(t *testing.T) {
	ca := NewCA(t)
	s := Redis(t, WithTLS(ca, ca.Loopback()), WithPassword("p"))
	if !strings.HasPrefix(s.URL(), "rediss://:p@127.0.0.1:") {
		t.Errorf("the address is %s", s.URL())
	}
	secure := s.tls
	s.tls = nil
	if _, err := s.Ask("PING"); err == nil {
		t.Error("a client without TLS was answered")
	}
	s.tls = secure
	s.Kill()
	s.Start()
}

func TestPostgresOnTLSTakesNothingElse(t *testing.T) {
	ca := NewCA(t)
	s := PostgresServer(t, WithPostgresTLS(ca, ca.Loopback()))
	if got := psql(t, s.URL(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"); got != "t" {
		t.Errorf("the connection is on TLS: %s", got)
	}
	plain := strings.Replace(s.URL(), "sslmode=verify-full", "sslmode=disable", 1)
	if out, err := psqlTry(t, plain, "SELECT 1"); err == nil {
		t.Errorf("a client without TLS was answered %s", out)
	}
	stranger := strings.Replace(s.URL(), url.QueryEscape(ca.File()), url.QueryEscape(NewCA(t).File()), 1)
	if out, err := psqlTry(t, stranger, "SELECT 1"); err == nil || !strings.Contains(out, "certificate") {
		t.Errorf("a client of another authority was answered %s", out)
	}
}
