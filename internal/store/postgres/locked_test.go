package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/hydrate"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// A guild whose row somebody holds keeps the others, whose epochs are raised with it, from nothing, and has its own raised once the row
// is free. Its state can be read meanwhile.
func TestALockedGuildHoldsUpNoOther(t *testing.T) {
	url := testenv.Postgres(t)
	a := open(t, url)
	must(t, a.Migrate(t.Context()))
	guilds := make([]leaderboard.GuildRef, 30)
	for i := range guilds {
		guilds[i] = leaderboard.Ref(storetest.PutGuild(t, a, id.Guild(fmt.Sprintf("1%017d", i))))
	}
	const locked = 7
	release := blocking(t, url, `SELECT FROM guilds WHERE id = $1 FOR UPDATE`, string(guilds[locked].ID))
	raise := func(g leaderboard.GuildRef) {
		if s, err := a.RaiseEpoch(t.Context(), g, snapshot.State{}, hydrate.Reloaded); err != nil || s != (snapshot.State{Epoch: 1}) {
			t.Errorf("guild %s: %+v, %v; want epoch 1", g.ID, s, err)
		}
	}
	held := make(chan struct{})
	var others sync.WaitGroup
	for i, g := range guilds {
		if i == locked {
			go func() { raise(g); close(held) }()
		} else {
			others.Go(func() { raise(g) })
		}
	}
	others.Wait() // which it does not, if they wait for the row
	if s, err := a.State(t.Context(), guilds[locked]); err != nil || s != (snapshot.State{}) {
		t.Errorf("the locked guild: %+v, %v; want epoch 0", s, err)
	}
	release()
	<-held
}

// A reset of a large guild copies members for seconds. Settings and keys are changed meanwhile: a leaked key is revoked at once.
func TestAChangeDoesNotWaitForACopyOfMembers(t *testing.T) {
	url := postgrestest.URL(t)
	a := open(t, url)
	g := leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000001"))
	release := blocking(t, url, `SELECT FROM erasure_secret FOR UPDATE`) // which each copy shares
	replaced := make(chan error, 1)
	go func() {
		_, err := a.Replace(t.Context(), checkpoints.Replacement{Guild: g, Name: "before", Why: events.Cleared})
		replaced <- err
	}()
	waitFor(t, url, waitsForALock)
	exec(t, url, `SET lock_timeout = '10s'; UPDATE change_counter SET version = version`)
	release()
	must(t, <-replaced)
}
