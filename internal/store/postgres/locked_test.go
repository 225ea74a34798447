package postgres_test

import (
	"testing"

	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/postgrestest"
	"levelboard/internal/usecase/checkpoints"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// A reset of a large guild copies members for seconds. Meanwhile settings and keys can change, so that a leaked key is revoked at once.
func TestAChangeDoesNotWaitForACopyOfMembers(t *testing.T) {
	url := postgrestest.URL(t)
	a := open(t, url)
	g := leaderboard.Ref(storetest.PutGuild(t, a, "100000000000000001"))
	release := blocking(t, url, `SELECT FROM erasure_secret FOR UPDATE`) // which each copy locks
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
