package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/http/edge"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/leaderboard"
)

// awarding takes a while for messages.
type awarding struct {
	instant
	takes time.Duration
}

func (d *awarding) Award(ctx context.Context, _ *guild.Guild, messages []leaderboard.Message, _ leaderboard.Once) ([]leaderboard.Gain, bool, error) {
	select {
	case <-time.After(d.takes):
		return make([]leaderboard.Gain, len(messages)), false, nil
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// talk serves deps with a listener's timeouts, and returns a client's end of a connection and what the client reads.
func talk(t *testing.T, deps *awarding) (net.Conn, *bufio.Reader) {
	t.Helper()
	deps.key, deps.guild = &writer, &guild.Guild{Settings: guild.Settings{ID: benchGuild, Enabled: true}}
	api, err := New(Deps{Keys: deps, Limiter: deps, Guilds: deps, Board: deps, Log: slog.New(slog.DiscardHandler), Now: time.Now, Patience: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	client := testenv.Piped(t, &http.Server{Handler: api, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, IdleTimeout: 2 * time.Minute})
	return client, bufio.NewReader(client)
}

// post returns the head of a request to send messages.
func post(framing string) string {
	return "POST /v2/guilds/" + benchGuild + "/messages HTTP/1.1\r\nHost: h\r\n" + keyHeader + ": k\r\nContent-Type: application/json\r\n" + framing + "\r\n\r\n"
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func wantStatus(t *testing.T, r *bufio.Reader, want int) {
	t.Helper()
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatalf("reading the answer: %v, want %d", err, want)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		t.Errorf("the answer is %d %s, %v; want %d", answer.StatusCode, body, err, want)
	}
}

// A body that does not arrive holds its place only for edge.BodyTime.
func TestASlowLargeBodyTimesOut(t *testing.T) {
	for framing, begins := range map[string]string{
		"Content-Length: 100000":     `{"messages":[`,
		"Transfer-Encoding: chunked": "d\r\n" + `{"messages":[` + "\r\n",
	} {
		t.Run(framing, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, r := talk(t, &awarding{})
				began := time.Now()
				send(t, c, post(framing)+begins)
				wantStatus(t, r, 400)
				if took := time.Since(began); took != edge.BodyTime {
					t.Errorf("the answer came after %v, want %v", took, edge.BodyTime)
				}
			})
		})
	}
}

// The time limit is for the body only, not for the work on it or the next request on the connection.
func TestTheTimeForALargeBodyEndsWithTheBody(t *testing.T) {
	for _, framing := range []string{"Content-Length", "Transfer-Encoding"} {
		t.Run(framing, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, r := talk(t, &awarding{takes: edge.BodyTime + time.Second})
				small := busyBody(1)
				large := append(bytes.Clone(small), strings.Repeat(" ", maxBody)...)
				for _, body := range [][]byte{large, large} {
					if framing == "Content-Length" {
						send(t, c, post(fmt.Sprintf("Content-Length: %d", len(body)))+string(body))
					} else {
						send(t, c, post("Transfer-Encoding: chunked")+fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body))
					}
					wantStatus(t, r, 200)
				}
				time.Sleep(time.Minute) // synctest's time
				head := post(fmt.Sprintf("Content-Length: %d", len(small)))
				send(t, c, head+string(small[:10]))
				time.Sleep(3 * time.Second)
				send(t, c, string(small[10:]))
				wantStatus(t, r, 200)
			})
		})
	}
}

// A client that does not read its answer keeps its connection, but no place among the requests in flight.
func TestAnUnreadAnswerHoldsNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deps := &awarding{}
		deps.key, deps.guild = &writer, &guild.Guild{Settings: guild.Settings{ID: benchGuild, Enabled: true}}
		api, err := New(Deps{Keys: deps, Limiter: deps, Guilds: deps, Board: deps, Log: slog.New(slog.DiscardHandler), Now: time.Now, inFlight: 4, OpenAPI: make([]byte, 1<<20)})
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			client := testenv.Piped(t, &http.Server{Handler: api})
			send(t, client, "GET /v2/openapi.json HTTP/1.1\r\nHost: h\r\n\r\n")
			wantBegin := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(client, wantBegin); err != nil || string(wantBegin) != "HTTP/1.1 200" {
				t.Errorf("the answer begins with %q (%v), want HTTP/1.1 200", wantBegin, err)
			}
		}
	})
}

// A body that arrives slowly uses only its owner's share.
func TestASlowBodyUsesItsOwnersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owned := writer
		owned.OwnerID = "300000000000000009"
		deps := &awarding{}
		deps.key, deps.guild = &owned, &guild.Guild{Settings: guild.Settings{ID: benchGuild, Enabled: true}}
		api, err := New(Deps{Keys: deps, Limiter: deps, Guilds: deps, Board: deps, Log: slog.New(slog.DiscardHandler), Now: time.Now, inFlight: 1, OpenAPI: []byte("{}")})
		if err != nil {
			t.Fatal(err)
		}
		slow := testenv.Piped(t, &http.Server{Handler: api})
		send(t, slow, post("Content-Length: 50")+"{")
		synctest.Wait()
		other := testenv.Piped(t, &http.Server{Handler: api})
		send(t, other, "GET /v2/openapi.json HTTP/1.1\r\nHost: h\r\n\r\n")
		wantStatus(t, bufio.NewReader(other), 200)
		began := time.Now()
		wantStatus(t, bufio.NewReader(slow), 400)
		if took := time.Since(began); took != edge.BodyTime {
			t.Errorf("the slow body is refused after %v, want %v", took, edge.BodyTime)
		}
	})
}
