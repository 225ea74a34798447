package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store"
)

func archiveKeys(t *testing.T, a store.Archive) {
	put(t, a, settingsOf(t, guildA, ""))
	put(t, a, settingsOf(t, guildB, ""))
	if _, err := a.Key(t.Context(), "key000000001"); !errors.Is(err, apikey.ErrNotFound) {
		t.Fatalf("an unknown key: %v, want apikey.ErrNotFound", err)
	}
	expires, limit, none := time.Date(2030, 1, 2, 3, 4, 5, 678e6, time.UTC), 1000000, 0
	full := aKey("key000000001", guildA, guildB)
	full.Permission, full.ExpiresAt, full.RateLimit = apikey.ReadWrite, &expires, &limit
	unlimited := aKey("key000000002", guildB)
	unlimited.RateLimit = &none
	want := []apikey.Key{full, unlimited, aKey("key000000003")}
	for _, k := range want {
		must(t, a.CreateKey(t.Context(), k, apikey.Operator, 0))
	}
	listed, err := a.Keys(t.Context(), "", 10)
	if err != nil || len(listed) != len(want) {
		t.Fatalf("%d keys are listed (%v), want %d", len(listed), err, len(want))
	}
	for i, k := range want {
		read := mustGet(a.Key(t.Context(), k.ID))(t)
		for _, got := range []*apikey.Key{read, listed[i]} {
			got.GuildIDs = append([]id.Guild(nil), got.GuildIDs...) // nil and empty are equal
			if !reflect.DeepEqual(*got, k) {
				t.Errorf("key %s:\n got %+v\nwant %+v", k.ID, *got, k)
			}
		}
	}
	if rest, err := a.Keys(t.Context(), "key000000001", 1); err != nil || len(rest) != 1 || rest[0].ID != "key000000002" {
		t.Errorf("a page of the list is %+v (%v), want the second key", rest, err)
	}
}

func archiveGrants(t *testing.T, a store.Archive) {
	put(t, a, settingsOf(t, guildA, ""))
	put(t, a, settingsOf(t, guildB, ""))
	must(t, a.CreateKey(t.Context(), aKey("key000000001"), apikey.Operator, 0))
	for _, step := range []struct {
		name string
		do   func() error
		err  error
		want []id.Guild
	}{
		{"grant", func() error { return a.Grant(t.Context(), "key000000001", guildB, apikey.Operator) }, nil, []id.Guild{guildB}},
		{"grant again", func() error { return a.Grant(t.Context(), "key000000001", guildB, apikey.Operator) }, nil, []id.Guild{guildB}},
		{"grant another", func() error { return a.Grant(t.Context(), "key000000001", guildA, apikey.Operator) }, nil, []id.Guild{guildA, guildB}},
		{"grant an unknown guild", func() error { return a.Grant(t.Context(), "key000000001", "100000000000000009", apikey.Operator) }, guild.ErrNotFound, []id.Guild{guildA, guildB}},
		{"grant to an unknown key", func() error { return a.Grant(t.Context(), "key000000009", guildA, apikey.Operator) }, apikey.ErrNotFound, []id.Guild{guildA, guildB}},
		{"ungrant", func() error { return a.Ungrant(t.Context(), "key000000001", guildB, apikey.Operator) }, nil, []id.Guild{guildA}},
		{"ungrant again", func() error { return a.Ungrant(t.Context(), "key000000001", guildB, apikey.Operator) }, nil, []id.Guild{guildA}},
		{"ungrant of an unknown key", func() error { return a.Ungrant(t.Context(), "key000000009", guildA, apikey.Operator) }, apikey.ErrNotFound, []id.Guild{guildA}},
		{"delete the guild", func() error { _, err := a.DeleteGuild(t.Context(), guildA); return err }, nil, nil},
	} {
		if err := step.do(); !errors.Is(err, step.err) {
			t.Errorf("%s: %v, want %v", step.name, err, step.err)
		}
		k, err := a.Key(t.Context(), "key000000001")
		if err != nil || fmt.Sprint(k.GuildIDs) != fmt.Sprint(step.want) {
			t.Errorf("after %q: grants %v, %v; want %v", step.name, k.GuildIDs, err, step.want)
		}
	}
	must(t, a.RevokeKey(t.Context(), "key000000001", apikey.Operator))
	if _, err := a.Key(t.Context(), "key000000001"); !errors.Is(err, apikey.ErrNotFound) {
		t.Errorf("reading a revoked key: %v, want apikey.ErrNotFound", err)
	}
	if err := a.RevokeKey(t.Context(), "key000000001", apikey.Operator); !errors.Is(err, apikey.ErrNotFound) {
		t.Errorf("revoking a key twice: %v, want apikey.ErrNotFound", err)
	}
}

func archiveKeyUnknownGuild(t *testing.T, a store.Archive) {
	put(t, a, settingsOf(t, guildA, ""))
	if err := a.CreateKey(t.Context(), aKey("key000000001", guildA, guildB), apikey.Operator, 0); !errors.Is(err, guild.ErrNotFound) {
		t.Fatalf("creating a key for an unknown guild: %v, want guild.ErrNotFound", err)
	}
	if _, err := a.Key(t.Context(), "key000000001"); !errors.Is(err, apikey.ErrNotFound) {
		t.Errorf("reading the refused key: %v, want apikey.ErrNotFound", err)
	}
}
