package redisstore_test

import (
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
)

// While a server restarts, each read of guilds fails because of the connection, the loading server or an unverified guild, never with a
// reply of the wrong form.
func TestReadsDuringARestartFailCleanly(t *testing.T) {
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
		t.Errorf("a read while the server restarts returned %v", err)
	}
}
