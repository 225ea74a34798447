package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"levelboard/internal/testing/testenv"
)

// net/http rejects what it cannot parse as a request.
func TestAnInvalidRequestIs400(t *testing.T) {
	t.Parallel()
	s := start(t, onDataDir(t)...)
	c, err := net.Dial("tcp", s.app.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /v2/levels/%zz?page=1 HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "400 Bad Request" || answer.StatusCode != 400 || answer.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("the answer is %d %v with the body %q (%v), want a 400 in plain text", answer.StatusCode, answer.Header, body, err)
	}
}

// A client that sends its whole body before it reads learns why the body was refused.
func TestARefusedBodyIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	s := start(t, onDataDir(t)...)
	g := s.guild(nil)
	for key, status := range map[string]int{"lb_none": 401, s.key(g): 413} {
		testenv.Again(t, func() error { // a busy machine may miss the five seconds for a body
			conn, err := net.Dial("tcp", s.app.Addr())
			if err != nil {
				return err
			}
			defer conn.Close()
			if err := conn.(*net.TCPConn).SetWriteBuffer(64 << 10); err != nil { // a larger buffer would take the body unread
				return err
			}
			fmt.Fprintf(conn, "PUT /v2/guilds/%s/members HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", g, key, 4<<20)
			if _, err := conn.Write(make([]byte, 4<<20)); err != nil {
				return err
			}
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				return err
			}
			if body, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != status {
				return fmt.Errorf("the answer is %d %s (%v), want %d", answer.StatusCode, body, err, status)
			}
			return nil
		})
	}
}
