package app_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/store/sqlite"
)

// wantUses fails unless the stopped service wrote this use of its one key to the archive.
func wantUses(t *testing.T, archive interface {
	OwnedKeys(ctx context.Context, owner id.User, hour int64, limit int) ([]apikey.Owned, error)
}, owner string, want int64) {
	t.Helper()
	list, err := archive.OwnedKeys(t.Context(), id.User(owner), apikey.HourOf(time.Now()), 10)
	if err != nil || len(list) != 1 || list[0].Requests != want {
		t.Fatalf("the archive has the keys %+v (%v), want one with %d requests", list, err, want)
	}
	if last := list[0].LastUsed; last == nil || time.Since(*last) > time.Minute {
		t.Errorf("the key was last used at %v, want within the last minute", last)
	}
}

func TestAStopWritesTheUseOfKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := start(t, "LEVELBOARD_DATA_DIR="+dir)
	g, owner := s.guild(nil), newID()
	_, secret := s.mint(object{"ownerId": owner, "guildIds": []string{g}})
	for range 3 {
		s.board(secret, g, 1)
	}
	s.stop(t)
	archive, err := sqlite.Open(t.Context(), filepath.Join(dir, "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	wantUses(t, archive, owner, 3)
}
