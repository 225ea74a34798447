package redisstore_test

import (
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
)

// A server that restarts while many guilds are read is an error of a connection, of a server that loads or of guilds that are to be verified,
// and never a reply that makes no sense.
func TestARestartWhileChangesAreRead(t *testing.T) {
	ctx := t.Context()
	server := testenv.Redis(t, testenv.WithConfig("appendonly yes"))
	s := redisstore.New(connect(t, server.URL()), redisstore.Options{})
	load(t, s, row(user1))
	var guilds []id.Guild
	for i := range 100 {
		guilds = append(guilds, guildNo(i).ID)
	}
	guilds = append(guilds, guild1.ID)
	_, err := s.Change(ctx, guild1, user1, plusOne)
	ok(t, err)
	done, odd := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(odd)
		for {
			select {
			case <-done:
				return
			default:
			}
			for _, p := range s.ReadChanges(ctx, guilds, 10) {
				if p.Err != nil && strings.Contains(p.Err.Error(), "unexpected reply") {
					select {
					case odd <- p.Err:
					default:
					}
				}
			}
		}
	}()
	for range 8 {
		time.Sleep(100 * time.Millisecond)
		server.Kill()
		server.Start()
	}
	close(done)
	for err := range odd {
		t.Errorf("a read while the server restarts: %v", err)
	}
}
