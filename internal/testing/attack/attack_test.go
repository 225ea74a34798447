//go:build linux

package attack

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/testing/testenv"
)

// Bodies that arrive a byte a second, for keys that anybody can make, take no place from others.
func TestSlowSmallBodies(t *testing.T) {
	for name, proxied := range map[string]bool{"directly": false, "through a proxy": true} {
		t.Run(name, func(t *testing.T) {
			s := start(t, "LEVELBOARD_TRUSTED_PROXIES=127.0.0.1")
			var keys []string
			for owner := range 8 {
				for range 14 {
					keys = append(keys, s.newKey(fmt.Sprint(310000000000000000+owner)))
				}
			}
			attackers(t, 2600, func(ctx context.Context, n int) {
				head := "PATCH /v2/levels/" + guildID + "/users/" + memberID + " HTTP/1.1\r\nHost: h\r\nX-Api-Key: " + keys[n%len(keys)] +
					"\r\nContent-Type: application/json\r\nContent-Length: 50\r\n"
				from := net.IPv4(127, 1, 0, byte(1+n%8))
				if proxied {
					from = net.IPv4(127, 0, 0, 1)
					head += fmt.Sprintf("X-Forwarded-For: 203.0.113.%d\r\n", n%250)
				}
				sendSlowly(ctx, s.address, from, head+"\r\n")
			})
			time.Sleep(500 * time.Millisecond)
			var header http.Header
			if proxied {
				header = http.Header{"X-Forwarded-For": {"198.51.100.1"}}
			}
			s.wantServed(header, false)
		})
	}
}

// sendSlowly sends a head, and a byte of a body each second until the service has had enough.
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
			return // it was refused
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

// Clients that ask for page after page and read none take no place from others.
func TestClientsThatNeverRead(t *testing.T) {
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
	s.wantServed(nil, false)
}

// One address that opens more connections than there are descriptors takes none from others, nor from the stores and the ops listener.
func TestManyConnections(t *testing.T) {
	for name, setting := range map[string]string{"of one address": "", "where addresses have no limit": "LEVELBOARD_CONNECTIONS_PER_ADDRESS=0"} {
		t.Run(name, func(t *testing.T) {
			redis, archive := testenv.Redis(t), testenv.PostgresServer(t)
			s := start(t, setting, "LEVELBOARD_REDIS_URL="+redis.URL(), "LEVELBOARD_POSTGRES_URL="+archive.URL(), "LEVELBOARD_REDIS_TIMEOUT=5s")
			done := make(chan bool)
			var opened, silent atomic.Int64
			attackers(t, 9500, func(ctx context.Context, _ int) {
				conn := dial(ctx, s.address, net.IPv4(127, 3, 0, 1), nil)
				if conn == nil {
					return
				}
				opened.Add(1)
				defer conn.Close()
				<-ctx.Done()
			})
			go func() { // the operator
				defer close(done)
				for range 30 {
					if s.opsStatus("/readyz") != 200 {
						silent.Add(1)
					}
					time.Sleep(200 * time.Millisecond)
				}
			}()
			time.Sleep(500 * time.Millisecond)
			if setting == "" {
				s.wantServed(nil, true)
			}
			<-done
			if n := silent.Load(); n > 0 {
				t.Errorf("the ops listener did not say that all is well %d times", n)
			}
			reason := map[bool]string{true: "address", false: "descriptors"}[setting == ""]
			if opened.Load() > 9000 && s.metric(`levelboard_http_connections_refused_total{reason="`+reason+`"}`) < 500 {
				t.Errorf("hardly any connections were refused of %d", opened.Load())
			}
			if !strings.Contains(s.logged(), "a connection was closed at once") {
				t.Error("there is no warning in the log")
			}
		})
	}
}
