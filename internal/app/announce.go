package app

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"time"

	"levelboard/internal/changes"
	"levelboard/internal/id"
	"levelboard/internal/redisstore"
)

// announceTime bounds how long an operator's request waits after its change was committed.
const announceTime = 2 * time.Second

// announcer brings a committed change into force here at once, and tells the other replicas to look.
type announcer struct {
	follower *changes.Follower
	live     *redisstore.Store
	log      *slog.Logger
}

// Announce does not fail: the change is committed, and every replica finds it by itself within a second.
func (n *announcer) Announce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
	defer cancel()
	if err := n.follower.CatchUp(ctx); err != nil {
		n.log.Warn("a change of settings or keys was written, but could not be read back at once", "error", err)
	}
	if err := n.live.Nudge(ctx); err != nil {
		n.log.Warn("the other replicas could not be told of a change of settings or keys; they look by themselves", "error", err)
	}
}

// holderName names this process among the replicas; two on one host, or one restarted, differ. An embedded one is alone with
// its data directory, which is locked, so it is the holder that it was before a crash and need not wait for that lease.
func (a *App) holderName() string {
	if a.cfg.Embedded() {
		return "embedded"
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "-" + rand.Text()[:8]
}

// guildID is for subjects of the change log, which only valid ids get into.
func guildID(subject string) id.Guild { return id.Guild(subject) }
