// Package embedded has the Redis that the service runs in its own process when it is given no server. It writes nothing to disk: what must
// last is in the archive (package sqlite).
package embedded

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Redis is a Redis in this process. It holds everything in memory, and forgets it when closed. It is for small guilds and for trying things
// out: a rank or a page sorts the whole board, about 20 ms at 100,000 members, and meanwhile it answers nobody else.
type Redis struct {
	server *miniredis.Miniredis
	url    string
}

// StartRedis starts a Redis on a free port of the loopback interface. A random password keeps other users of the machine
// out; URL holds it. Keys expire as real time passes.
func StartRedis() (*Redis, error) {
	password := rand.Text()
	server := miniredis.NewMiniRedis()
	server.RequireAuth(password)
	server.ClockTTL(true)
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("embedded redis: start: %w", err)
	}
	tellIdentity(server)
	u := url.URL{Scheme: "redis", User: url.UserPassword("", password), Host: server.Addr(), Path: "/0"}
	return &Redis{server: server, url: u.String()}, nil
}

// URL is where to connect, with the password: do not log it.
func (r *Redis) URL() string { return r.url }

// Close stops the server and closes its connections. Its data is gone.
func (r *Redis) Close() { r.server.Close() }

// tellIdentity makes INFO answer what a Redis server says about which life of it this is, because miniredis does not know
// those sections. Its data never outlives the process, so one identity for each start is the truth.
func tellIdentity(r *miniredis.Miniredis) {
	answer := "run_id:" + rand.Text() + "\r\nmaster_replid2:0\r\n"
	r.Server().SetPreHook(func(c *server.Peer, cmd string, args ...string) bool {
		if cmd != "INFO" || len(args) == 0 || !strings.EqualFold(args[0], "server") {
			return false
		}
		c.WriteBulk(answer)
		return true
	})
}
