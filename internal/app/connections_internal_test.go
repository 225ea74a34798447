package app

import (
	"bytes"
	"log"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"

	"levelboard/internal/config"
)

func TestConnectionsAreBounded(t *testing.T) {
	cfg := config.Config{TrustedProxies: []string{"10.0.0.0/8", "::ffff:192.0.2.0/120", "2001:db8::1"}}
	c := boundConnections(nil, 2, cfg.ProxyPrefixes(), slog.New(slog.DiscardHandler))
	c.most = 9
	taken := func(address, want string) {
		t.Helper()
		if got := c.take(netip.MustParseAddr(address)); got != want {
			t.Errorf("a connection from %s is refused for %q, want %q", address, got, want)
		}
	}
	for range 2 {
		taken("127.0.0.1", "")
	}
	taken("127.0.0.1", reasonAddress)
	taken("127.0.0.2", "")
	for _, proxy := range []string{"10.1.2.3", "192.0.2.7", "2001:db8::1"} {
		for range 2 {
			taken(proxy, "")
		}
	}
	taken("127.0.0.3", reasonDescriptors)
	for _, address := range []string{"127.0.0.1", "10.1.2.3"} {
		c.release(netip.MustParseAddr(address))
	}
	taken("127.0.0.1", "")
	taken("127.0.0.3", "")
	if c.open != 9 || len(c.of) != 3 {
		t.Errorf("%d connections are open, of %v, want 9 of 3 addresses", c.open, c.of)
	}
}

func TestNoBoundOfAnAddress(t *testing.T) {
	c := boundConnections(nil, 0, nil, slog.New(slog.DiscardHandler))
	for range 3000 {
		if refused := c.take(netip.MustParseAddr("127.0.0.1")); refused != "" {
			t.Fatalf("without a bound for each address a connection is refused for %q", refused)
		}
	}
	for descriptors, want := range map[int]int{8192: 7936, 256: 128, 1024: 768} {
		if got := mostConnections(descriptors); got != want {
			t.Errorf("with %d descriptors the most connections are %d, want %d", descriptors, got, want)
		}
	}
}

func TestAClosedConnectionIsNotCounted(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := boundConnections(l, 1, nil, slog.New(slog.DiscardHandler))
	for range 3 {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := c.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_ = accepted.Close()
		_ = accepted.Close()
		_ = client.Close()
	}
	if c.open != 0 || len(c.of) != 0 {
		t.Errorf("%d connections of %v are counted after all were closed, want 0", c.open, c.of)
	}
}

func TestAPanicOutsideAHandlerIsAnError(t *testing.T) {
	var logged bytes.Buffer
	server := log.New(serverErrors{slog.New(slog.NewTextHandler(&logged, nil))}, "", 0)
	server.Printf("http: URL query contains semicolon")
	if logged.Len() > 0 {
		t.Errorf("mistakes of clients are logged: %s", &logged)
	}
	server.Printf("http: panic serving %v: %v", "127.0.0.1:1", "broken")
	if !strings.Contains(logged.String(), "level=ERROR") || !strings.Contains(logged.String(), "broken") {
		t.Errorf("the log is %q, want the panic with level=ERROR", &logged)
	}
}
