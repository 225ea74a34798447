package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/platform/changes"
	"levelboard/internal/store"
)

func archiveUpdate(t *testing.T, a store.Archive) {
	if _, err := a.UpdateGuild(t.Context(), settingsOf(t, guildA, ""), 1); !errors.Is(err, guild.ErrNotFound) {
		t.Fatalf("updating an unknown guild: %v, want guild.ErrNotFound", err)
	}
	put(t, a, settingsOf(t, guildB, `,"vanity":"moles"`))
	first := put(t, a, settingsOf(t, guildA, `,"vanity":"gophers"`))
	want := settingsOf(t, guildA, everySetting)
	second := mustGet(a.UpdateGuild(t.Context(), want, first.Edited))(t)
	want.Icon = nil // not a manager's to set
	read, err := a.Guild(t.Context(), guildA)
	if err != nil || !reflect.DeepEqual(read, second) || !reflect.DeepEqual(read.Settings, want) {
		t.Errorf("the update returned %+v,\nread as %+v (%v),\nwant %+v", second, read, err, want)
	}
	if second.Incarnation != first.Incarnation || second.Version <= first.Version {
		t.Errorf("the update changed incarnation %d to %d and version %d to %d, want a newer version only",
			first.Incarnation, second.Incarnation, first.Version, second.Version)
	}
	if logged, err := a.Changes(t.Context(), first.Version, 10); err != nil || len(logged) != 1 ||
		logged[0] != (changes.Change{Version: second.Version, Kind: changes.Guild, Subject: string(guildA)}) {
		t.Errorf("the update was logged as %+v (%v), want one change of the guild", logged, err)
	}
	for name, refused := range map[string]struct {
		more    string
		version int64
		want    error
	}{
		"of an older version": {"", first.Version, guild.ErrChanged},
		"of no version":       {"", 0, guild.ErrChanged},
		"to a taken vanity":   {`,"vanity":"moles"`, second.Version, guild.ErrVanityTaken},
	} {
		if _, err := a.UpdateGuild(t.Context(), settingsOf(t, guildA, refused.more), refused.version); !errors.Is(err, refused.want) {
			t.Errorf("an update %s: %v, want %v", name, err, refused.want)
		}
	}
	if again, err := a.Guild(t.Context(), guildA); err != nil || !reflect.DeepEqual(again, read) {
		t.Errorf("a refused update changed the guild to %+v (%v)", again, err)
	}
	if latest, err := a.LatestChange(t.Context()); err != nil || latest != second.Version {
		t.Errorf("after refused updates the latest change is %d (%v), want %d", latest, err, second.Version)
	}
	given, err := a.UpdateGuild(t.Context(), settingsOf(t, guildA, ""), second.Version)
	if err != nil || given.Vanity != "" {
		t.Fatalf("giving up the vanity made %+v (%v), want none", given, err)
	}
	if _, err := a.GuildByVanity(t.Context(), "gophers"); !errors.Is(err, guild.ErrNotFound) {
		t.Errorf("a vanity that was given up: %v, want guild.ErrNotFound", err)
	}
}

// archiveUpdateRace updates the same version many times at once.
func archiveUpdateRace(t *testing.T, a store.Archive) {
	before := put(t, a, settingsOf(t, guildA, ""))
	var group sync.WaitGroup
	var made atomic.Int32
	for i := range 8 {
		mine := settingsOf(t, guildA, fmt.Sprintf(`,"xpPerMessageMax":%d`, 100+i))
		group.Go(func() {
			switch _, err := a.UpdateGuild(t.Context(), mine, before.Version); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, guild.ErrChanged):
				t.Errorf("updating: %v, want nil or guild.ErrChanged", err)
			}
		})
	}
	group.Wait()
	after, err := a.Guild(t.Context(), guildA)
	if made.Load() != 1 || err != nil || after.Version != before.Version+1 || after.XPPerMessageMax < 100 {
		t.Errorf("%d updates of one version succeeded, want 1; the guild is %+v (%v)", made.Load(), after, err)
	}
}
