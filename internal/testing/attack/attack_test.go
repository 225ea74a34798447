//go:build linux

package attack

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/testing/testenv"
)

// Bodies that arrive one byte a second, for made-up keys, take no place from other clients.
func TestSlowSmallBodiesTakeNoPlaces(t *testing.T) {
	for _, proxy := range []string{"", "nginx", "haproxy", "caddy"} {
		t.Run(cmp.Or(proxy, "directly"), func(t *testing.T) {
			var trusted []string
			if proxy != "" {
				trusted = []string{"LEVELBOARD_TRUSTED_PROXIES=127.0.0.1"}
			}
			s := start(t, trusted...)
			client, address := s.client(), s.address
			if proxy != "" {
				address = s.throughProxy(proxy)
				client.service = address
			}
			var keys []string
			for owner := range 8 {
				for range 14 {
					keys = append(keys, s.newKey(fmt.Sprint(310000000000000000+owner)))
				}
			}
			attackers(t, 2600, func(ctx context.Context, n int) {
				sendSlowly(ctx, address, net.IPv4(127, 1, 0, byte(1+n%8)), "PATCH /v2/levels/"+guildID+"/users/"+memberID+
					" HTTP/1.1\r\nHost: h\r\nX-Api-Key: "+keys[n%len(keys)]+"\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n")
			})
			time.Sleep(500 * time.Millisecond)
			client.wantServed()
		})
	}
}

// sendSlowly sends a head, and then one byte of a body each second until the service refuses it.
func sendSlowly(ctx context.Context, address string, from net.IP, head string) {
	conn := dial(ctx, address, from, nil)
	if conn == nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, head); err != nil {
		return
	}
	for ctx.Err() == nil {
		if _, err := io.WriteString(conn, " "); err != nil {
			return
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		if n, _ := conn.Read(make([]byte, 512)); n > 0 {
			return // the service refused it
		}
	}
}

func dial(ctx context.Context, address string, from net.IP, control func(network, address string, c syscall.RawConn) error) net.Conn {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Control: control, Timeout: 10 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil
	}
	return conn
}

// Clients that request page after page and read none take no place from others.
func TestClientsThatNeverReadTakeNoPlaces(t *testing.T) {
	s := start(t)
	pages := strings.Repeat("GET /v2/levels/"+guildID+"?page=1 HTTP/1.1\r\nHost: h\r\n\r\n", 60)
	attackers(t, 300, func(ctx context.Context, n int) {
		conn := dial(ctx, s.address, net.IPv4(127, 2, byte(n%200/100), byte(1+n%100)), func(_, _ string, c syscall.RawConn) error {
			return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
		})
		if conn == nil {
			return
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, pages); err == nil {
			<-ctx.Done()
		}
	})
	time.Sleep(500 * time.Millisecond)
	s.client().wantServed()
}

// An address that opens more connections than there are descriptors takes none from other clients, the stores and the ops port. Without a
// limit for addresses, new connections are refused and earlier ones stay in use.
func TestManyConnectionsOfAnAddressAreRefused(t *testing.T) {
	for name, unlimited := range map[string]bool{"of one address": false, "where addresses have no limit": true} {
		t.Run(name, func(t *testing.T) {
			redis, archive := testenv.Redis(t), testenv.PostgresServer(t)
			environ, reason := []string{"DESCRIPTORS=2048", "LEVELBOARD_REDIS_URL=" + redis.URL(), "LEVELBOARD_POSTGRES_URL=" + archive.URL(), "LEVELBOARD_REDIS_TIMEOUT=5s"}, "address"
			if unlimited {
				environ, reason = append(environ, "LEVELBOARD_CONNECTIONS_PER_ADDRESS=0"), "descriptors"
			}
			s := start(t, environ...)
			client := s.client()
			if unlimited {
				client.transport.MaxConnsPerHost = 1
				if failure := client.call(); failure != "" {
					t.Fatalf("before the attack a request of the ordinary client failed: %s", failure)
				}
			} else {
				client.transport.DisableKeepAlives = true
			}
			var silent atomic.Int64
			attackers(t, 2600, func(ctx context.Context, _ int) {
				conn := dial(ctx, s.address, net.IPv4(127, 3, 0, 1), nil)
				if conn == nil {
					return
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, "GET /none HTTP/1.1\r\nHost: h\r\n\r\n") // an idle one would be closed after five seconds
				<-ctx.Done()
			})
			attackers(t, 1, func(context.Context, int) { // the operator's checks
				if s.opsStatus("/readyz") != 200 {
					silent.Add(1)
				}
			})
			time.Sleep(500 * time.Millisecond)
			if unlimited {
				s.refusesMany(reason)
			}
			client.wantServed()
			s.refusesMany(reason)
			if n := silent.Load(); n > 1 { // a busy machine may fail one
				t.Errorf("%d checks of the ops port failed, want at most 1", n)
			}
			if warnings := strings.Count(s.logged(), "a connection was closed at once"); warnings == 0 || warnings > 100 {
				t.Errorf("the log has %d warnings of closed connections, want 1 to 100", warnings)
			}
		})
	}
}

// refusesMany waits until hundreds of connections were refused for this reason.
func (s *target) refusesMany(reason string) {
	s.t.Helper()
	testenv.Wait(s.t, "500 refused connections", func() bool {
		return s.metric(`levelboard_http_connections_refused_total{reason="`+reason+`"}`) >= 500
	})
}

// Looking up more unknown keys than an address may at once does not refuse a known key, not even from that address.
func TestMadeUpKeysRefuseNoKnownKey(t *testing.T) {
	s := start(t)
	client := s.client()
	if failure := client.call(); failure != "" {
		t.Fatalf("before the attack a request of the ordinary client failed: %s", failure)
	}
	attackers(t, 600, func(ctx context.Context, _ int) {
		madeUp, _ := apikey.Mint(apikey.NewID())
		conn := dial(ctx, s.address, net.IPv4(127, 0, 0, 1), nil)
		if conn == nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, strings.Repeat("GET /v2/openapi.json HTTP/1.1\r\nHost: h\r\nX-Api-Key: "+madeUp+"\r\n\r\n", 3))
		_, _ = conn.Read(make([]byte, 512))
	})
	client.wantServed()
}
