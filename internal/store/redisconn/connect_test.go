package redisconn_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"levelboard/internal/store/redisconn"
	"levelboard/internal/testing/testenv"
)

func TestConnectRefusesInvalidURLs(t *testing.T) {
	const secret = "hunter2"
	for url, want := range map[string]error{
		"":                                          redisconn.ErrURL,
		"localhost:6379":                            redisconn.ErrURL,
		"http://localhost":                          redisconn.ErrURL,
		"redis://:" + secret + "#x@localhost":       redisconn.ErrURL,
		"redis://:1/" + secret + "@localhost":       redisconn.ErrURL,
		"redis://:" + secret + "@localhost/zero":    redisconn.ErrURL,
		"redis://localhost?password=" + secret:      redisconn.ErrURL,
		"unix://":                                   redisconn.ErrURL,
		"redis://:" + secret + "@h1:6379,h2:6379/0": redisconn.ErrSeveralHosts,
		"redis://h1,h2":                             redisconn.ErrSeveralHosts,
	} {
		client, err := redisconn.Connect(url, redisconn.ConnectOptions{})
		if !errors.Is(err, want) {
			t.Errorf("the URL %q: %v, want %v", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("the error for %q contains the secret: %v", url, err)
		}
		if client != nil {
			_ = client.Close()
		}
	}
}

func TestConnectReadsTheURLsOptions(t *testing.T) {
	for _, c := range []struct {
		url     string
		o       redisconn.ConnectOptions
		network string
		addr    string
		timeout time.Duration
		pool    int
		tls     bool
	}{
		{url: "redis://localhost", network: "tcp", addr: "localhost:6379", timeout: time.Second, pool: 32},
		{url: "rediss://example.test:6380/2", network: "tcp", addr: "example.test:6380", timeout: time.Second, pool: 32, tls: true},
		{url: "unix:///run/redis.sock", network: "unix", addr: "/run/redis.sock", timeout: time.Second, pool: 32},
		{
			url: "redis://[::1]:7000", o: redisconn.ConnectOptions{Timeout: time.Minute, PoolSize: 3},
			network: "tcp", addr: "[::1]:7000", timeout: time.Minute, pool: 3,
		},
		{
			url: "redis://h?read_timeout=3s&write_timeout=3s&dial_timeout=3s&pool_timeout=3s&pool_size=9&max_retries=7",
			o:   redisconn.ConnectOptions{PoolSize: 3}, network: "tcp", addr: "h:6379", timeout: 3 * time.Second, pool: 9,
		},
	} {
		client, err := redisconn.Connect(c.url, c.o)
		if err != nil {
			t.Errorf("the URL %s: %v", c.url, err)
			continue
		}
		opts := client.UniversalClient.(*redis.Client).Options()
		if opts.Network != c.network || opts.Addr != c.addr || opts.PoolSize != c.pool || (opts.TLSConfig != nil) != c.tls {
			t.Errorf("the URL %s gives %s %s, a pool of %d and TLS %v, want %s %s, %d and %v",
				c.url, opts.Network, opts.Addr, opts.PoolSize, opts.TLSConfig != nil, c.network, c.addr, c.pool, c.tls)
		}
		for name, got := range map[string]time.Duration{
			"read": opts.ReadTimeout, "write": opts.WriteTimeout, "pool": opts.PoolTimeout,
		} {
			if got != c.timeout {
				t.Errorf("the URL %s gives the %s timeout %v, want %v", c.url, name, got, c.timeout)
			}
		}
		dial := c.timeout
		if !strings.Contains(c.url, "dial_timeout") {
			dial = 400 * time.Millisecond
			if c.o.Timeout == time.Minute {
				dial = 24 * time.Second
			}
		}
		if opts.DialTimeout != dial {
			t.Errorf("the URL %s gives the dial timeout %v, want %v", c.url, opts.DialTimeout, dial)
		}
		// go-redis turns -1, which means none, into 0.
		if opts.MaxRetries > 0 {
			t.Errorf("the URL %s gives %d retries, want none", c.url, opts.MaxRetries)
		}
		_ = client.Close()
	}
}

func TestConnectOverAUnixSocket(t *testing.T) {
	server := testenv.Redis(t, testenv.WithConfig("unixsocket redis.sock"))
	s := newBoard(connect(t, "unix://"+server.Dir()+"/redis.sock"))
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping over the socket: %v", err)
	}
}

// clientTLS trusts only this authority.
func clientTLS(t *testing.T, ca *testenv.CA) func() (*tls.Config, error) {
	t.Helper()
	pem, err := os.ReadFile(ca.File())
	ok(t, err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the authority's file has no certificate")
	}
	return func() (*tls.Config, error) { return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, nil }
}

// While the file of authorities cannot be read, the client trusts no server and sends nothing.
func TestNothingIsSentBeforeTheTLSFilesAreRead(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	defer server.Close()
	heard := make(chan int64, 1)
	go func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		n, _ := io.Copy(io.Discard, conn)
		heard <- n
	}()
	unread := errors.New("no such file")
	client, err := redisconn.Connect("rediss://:PASSWORD@"+server.Addr().String(), redisconn.ConnectOptions{
		TLS: func() (*tls.Config, error) { return nil, unread },
	})
	ok(t, err)
	defer client.Close()
	if err := client.Ping(t.Context()).Err(); !errors.Is(err, unread) {
		t.Errorf("Ping without the files: %v, want %v", err, unread)
	}
	if n := <-heard; n != 0 {
		t.Errorf("%d bytes were sent without the files, want 0", n)
	}
}
