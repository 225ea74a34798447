package outbound

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve starts a TLS server and returns its address and a configuration that trusts it.
func serve(t *testing.T, h http.HandlerFunc) (address string, trust *tls.Config) {
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	pool := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return s.URL, &tls.Config{RootCAs: pool}
}

func hosts(t *testing.T, list ...string) Hosts {
	t.Helper()
	h, wrong := ParseHosts(list)
	if wrong != "" {
		t.Fatalf("the allowed host %q is refused", wrong)
	}
	return h
}

func get(t *testing.T, c *Client, address string) (Answer, error) {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Do(t.Context(), r)
}

// Special addresses are refused before a packet is sent, so this needs no network.
func TestSpecialAddressesAreRefused(t *testing.T) {
	c := New(Hosts{}, nil)
	for _, address := range []string{
		"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "192.0.0.1", "198.18.0.1", "224.0.0.1",
		"240.0.0.1", "255.255.255.255", "203.0.113.9", "[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[fd12::1]", "[ff02::1]", "[::ffff:127.0.0.1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[2001::1]", "[2001:db8::1]", "[3fff::1]", "[::127.0.0.1]",
	} {
		if _, err := get(t, c, "https://"+address+"/"); !errors.Is(err, ErrPrivate) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestPrivateHostsAreRefusedWhenConnecting(t *testing.T) {
	address, trust := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	byName := strings.Replace(address, "127.0.0.1", "localhost", 1)
	for _, c := range []struct {
		allowed, address string
		want             bool
	}{
		{"10.0.0.0/8", address, false},
		{"10.0.0.0/8", byName, false}, // the name's address counts
		{"127.0.0.0/8", address, true},
		{"127.0.0.1", address, true},
		{"localhost", address, false},
	} {
		client := New(hosts(t, c.allowed), trust)
		answer, err := get(t, client, c.address)
		client.Close()
		if c.want != (err == nil) || !c.want && !errors.Is(err, ErrPrivate) || c.want && answer.Status != http.StatusNoContent {
			t.Errorf("with %s allowed %s gives %v (%v), want it reached: %v", c.allowed, c.address, answer.Status, err, c.want)
		}
	}
	named := New(hosts(t, "LOCALHOST."), &tls.Config{RootCAs: trust.RootCAs, ServerName: "example.com"})
	defer named.Close()
	if _, err := get(t, named, byName); err != nil {
		t.Errorf("an allowed host: %v, want it reached", err)
	}
}

func TestRedirectsAndProxiesAreNotFollowed(t *testing.T) {
	var asked atomic.Int32
	address, trust := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	})
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	c := New(hosts(t, "127.0.0.1"), trust)
	defer c.Close()
	if answer, err := get(t, c, address); err != nil || answer.Status != http.StatusFound || asked.Load() != 1 {
		t.Errorf("a redirect gives %d after %d requests (%v), want 302 after 1", answer.Status, asked.Load(), err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	address, trust := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
	c := New(hosts(t, "127.0.0.1"), trust)
	defer c.Close()
	if answer, err := get(t, c, address); err != nil || len(answer.Body) != answerSize {
		t.Errorf("a large answer has %d bytes (%v), want %d", len(answer.Body), err, answerSize)
	}
}

// A host that is silent or slow has Timeout. The error does not contain the address's secret.
func TestSlowHostsTimeOut(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"trickles": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
				time.Sleep(50 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, trust := serve(t, h)
			c := New(hosts(t, "127.0.0.1"), trust)
			defer c.Close()
			began := time.Now()
			_, err := get(t, c, address+"/topsecret?token=topsecret")
			if took := time.Since(began); err == nil || took < Timeout || took > 30*time.Second || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("the error after %s is %v, want a timeout after %s without the secret", took, err, Timeout)
			}
		})
	}
}

func TestHostsAreParsedAndMatched(t *testing.T) {
	named := hosts(t, "10.0.0.0/8", "127.0.0.1", "Hooks.internal", "fd00::/8", "[::1]")
	for host, want := range map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "hooks.INTERNAL.": true, "::1": true, "fd12::1": true,
		"11.0.0.1": false, "localhost": false, "x.hooks.internal": false, "": false,
	} {
		if named.Name(host) != want {
			t.Errorf("Name(%q) is %v, want %v", host, !want, want)
		}
	}
	for _, text := range []string{"", "a/b", "http://x", "10.0.0.0/99", "x:80", "*"} {
		if _, wrong := ParseHosts([]string{text}); wrong != text {
			t.Errorf("the invalid host %q is accepted", text)
		}
	}
}

// A host that hangs uses only its own places. A request that waits for one can be cancelled.
func TestEachHostHasItsOwnPlaces(t *testing.T) {
	hanging := make(chan struct{})
	slow, trust := serve(t, func(_ http.ResponseWriter, r *http.Request) { hanging <- struct{}{}; <-r.Context().Done() })
	other, _ := serve(t, func(http.ResponseWriter, *http.Request) {})
	c := New(hosts(t, "127.0.0.1"), trust)
	defer c.Close()
	for range PerHost {
		go func() { _, _ = get(t, c, slow) }()
		<-hanging
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, slow, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(ctx, r); err == nil {
		t.Error("one request too many was sent to the host")
	}
	if _, err := get(t, c, other); err != nil {
		t.Errorf("a request to another host: %v, want it sent", err)
	}
}
