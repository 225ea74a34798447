//go:build linux

package attack

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

// rewarding returns a service in the box whose guild gives 250 roles at level 0, so that new members and events are large, and keys of one owner.
func rewarding(t *testing.T) (s *target, keys []string) {
	s = start(t, append(box, "LEVELBOARD_REDIS_URL="+testenv.Redis(t).URL(), "LEVELBOARD_POSTGRES_URL="+testenv.Postgres(t), "LEVELBOARD_REDIS_TIMEOUT=5s")...)
	var roles []map[string]any
	for n := range 250 {
		roles = append(roles, map[string]any{"id": fmt.Sprint(500000000000000000 + n), "name": "r", "color": nil, "position": 1})
	}
	guild := map[string]any{
		"name": "Gophers", "memberCount": 1, "ownerId": "300000000000000009",
		"roleRewards": []map[string]any{{"level": 0, "stack": true, "roles": roles}},
	}
	s.api().Do("PUT", "/admin/guilds/"+guildID, "", guild, apitest.AdminToken(adminToken)).Want(t, 200)
	for range 5 {
		keys = append(keys, s.newKey("310000000000000000", guildID))
	}
	return s, keys
}

// unread sends a request and does not read the answer for longer than the service waits for a stream.
func unread(ctx context.Context, address string, from net.IP, request string) {
	conn := dial(ctx, address, from, func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048) })
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err == nil {
		pause.For(ctx, 12*time.Second)
	}
}

// An owner whose clients read no answers does not fill the memory with them, however large they are.
func TestUnreadAnswersDoNotFillTheMemory(t *testing.T) {
	s, keys := rewarding(t)
	var user atomic.Int64
	attackers(t, 60, func(ctx context.Context, n int) {
		var messages []string
		for range 880 {
			messages = append(messages, fmt.Sprintf(`{"userId":"%d","channelId":"400000000000000001"}`, 600000000000000000+user.Add(1)))
		}
		body := `{"messages":[` + strings.Join(messages, ",") + `]}`
		unread(ctx, s.address, net.IPv4(127, 5, 0, byte(1+n)), fmt.Sprintf("POST /v2/guilds/%s/messages HTTP/1.1\r\nHost: h\r\n"+
			"X-Api-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", guildID, keys[n%len(keys)], len(body), body))
	})
	s.client().wantServedSoon()
	s.wantInBox()
}

// Nor do unread streams that replay all events.
func TestUnreadStreamsDoNotFillTheMemory(t *testing.T) {
	s, keys := rewarding(t)
	for call := range 10 {
		var members []map[string]any
		for n := range 1000 {
			members = append(members, map[string]any{"userId": fmt.Sprint(600000000000000000 + 1000*call + n), "xp": 100_000})
		}
		s.api().Do("PUT", "/v2/guilds/"+guildID+"/members", s.key, map[string]any{"mode": "set", "members": members}).Want(t, 200)
	}
	attackers(t, 120, func(ctx context.Context, n int) {
		unread(ctx, s.address, net.IPv4(127, 5, 0, byte(1+n)), fmt.Sprintf("GET /v2/guilds/%s/events HTTP/1.1\r\nHost: h\r\n"+
			"X-Api-Key: %s\r\nLast-Event-ID: 1-0\r\n\r\n", guildID, keys[n%len(keys)]))
	})
	testenv.Wait(t, "streams are open", func() bool { return s.metric("levelboard_event_streams_open") > 50 })
	s.client().wantServedSoon()
	s.wantInBox()
}
