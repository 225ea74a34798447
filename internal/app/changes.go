package app

import (
	"context"
	"crypto/rand"
	"log/slog"
	"os"
	"sync"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store/redisstore"
)

// announceTime bounds how long an operator's request waits for its committed change to be announced.
const announceTime = 2 * time.Second

// announcer applies a committed change to this replica's caches at once, and nudges the other replicas.
type announcer struct {
	known    known
	follower *changes.Follower
	live     *redisstore.Store
	log      *slog.Logger
}

// Announce cannot fail: the change is committed, and every replica finds it within a second without being
// notified. When Announce returns, this replica has reloaded the subject, and serves it even if the archive
// fails. The change's other subjects, such as the keys of a deleted guild, are invalidated when the log is read.
func (n *announcer) Announce(ctx context.Context, kind changes.Kind, subject string) {
	change := changes.Change{Kind: kind, Subject: subject}
	n.known.forget(change)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() {
		if err := n.live.Nudge(ctx); err != nil {
			n.log.WarnContext(ctx, "the other replicas could not be notified of a change of settings or keys; nothing to do, they look for changes regularly", "error", err)
		}
	})
	if err := n.follower.CatchUp(ctx); err != nil {
		n.log.WarnContext(ctx, "a change of settings or keys was written, but could not be read back at once; if this continues, check the archive", "error", err)
	}
	n.known.prefetch(ctx, change)
	group.Wait()
}

// holderName names this process among the replicas. Every start gets a new name. An embedded process keeps its
// name, since it has the data directory to itself: after a crash it need not wait for its own lease to expire.
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

// known is the local guild and key caches, invalidated by changes.
type known struct {
	guilds *guild.Cache
	keys   *apikey.Cache
	// announcements makes the poster of announcements check a guild.
	announcements func(id.Guild)
}

func (k known) changed(c changes.Change) {
	about(c, k.guilds.Changed, k.keys.Changed)
	about(c, k.announcements, func(string) {})
}

// forget invalidates like changed, but does not reload. Its caller fetches the subject next.
func (k known) forget(c changes.Change) { about(c, k.guilds.Forget, k.keys.Forget) }

func (k known) prefetch(ctx context.Context, c changes.Change) {
	about(c, func(g id.Guild) { k.guilds.Prefetch(ctx, g) }, func(keyID string) { k.keys.Prefetch(ctx, keyID) })
}

func (k known) forgetAll() {
	k.guilds.ForgetAll()
	k.keys.ForgetAll()
}

// about calls the function that fits the change's kind.
func about(c changes.Change, ofGuild func(id.Guild), ofKey func(string)) {
	switch c.Kind {
	case changes.Guild:
		ofGuild(id.Guild(c.Subject))
	case changes.Key:
		ofKey(c.Subject)
	}
}
