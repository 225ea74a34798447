package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/store"
)

const (
	ownerB id.User = "200000000000000002"

	keyOne = "key000000001"
	keyTwo = "key000000002"
)

func byA() apikey.Actor { return apikey.User(ownerA) }

// withKeys creates two guilds, and a key of ownerA without grants for each id.
func withKeys(t *testing.T, a store.Archive, ids ...string) {
	t.Helper()
	put(t, a, settingsOf(t, guildA, ""))
	put(t, a, settingsOf(t, guildB, ""))
	for _, keyID := range ids {
		must(t, a.CreateKey(t.Context(), aKey(keyID), byA(), 0))
	}
}

func owned(t *testing.T, a store.Archive, owner id.User, hour int64) []apikey.Owned {
	t.Helper()
	list := mustGet(a.OwnedKeys(t.Context(), owner, hour, 100))(t)
	return list
}

// grantsOf returns a key's grants with who gave them.
func grantsOf(t *testing.T, a store.Archive, keyID string) string {
	t.Helper()
	for _, o := range owned(t, a, ownerA, 0) {
		if o.ID == keyID {
			return fmt.Sprint(o.Grants)
		}
	}
	t.Fatalf("the owner's list lacks the key %s", keyID)
	return ""
}

// archiveKeyLimit runs more creations at once than the limit allows. The operator is not bound by it.
func archiveKeyLimit(t *testing.T, a store.Archive) {
	const limit, tries = 5, 20
	var made, refused atomic.Int64
	var group sync.WaitGroup
	for i := range tries {
		group.Go(func() {
			switch err := a.CreateKey(t.Context(), aKey(fmt.Sprintf("key%09d", i)), byA(), limit); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, apikey.ErrTooMany):
				refused.Add(1)
			default:
				t.Errorf("creating a key: %v, want nil or apikey.ErrTooMany", err)
			}
		})
	}
	group.Wait()
	if made.Load() != limit || refused.Load() != tries-limit || len(owned(t, a, ownerA, 0)) != limit {
		t.Errorf("%d keys were created, %d refused and %d are listed, want %d created",
			made.Load(), refused.Load(), len(owned(t, a, ownerA, 0)), limit)
	}
	if err := a.CreateKey(t.Context(), aKey("byoperator01"), apikey.Operator, 0); err != nil {
		t.Errorf("a key by the operator beyond the limit: %v, want none", err)
	}
	other := aKey("ofsomebody01")
	other.OwnerID = ownerB
	if err := a.CreateKey(t.Context(), other, apikey.User(ownerB), limit); err != nil {
		t.Errorf("a key of another owner: %v, want none", err)
	}
	must(t, a.RevokeKey(t.Context(), "byoperator01", byA()))
	if err := a.CreateKey(t.Context(), aKey("onetoomany01"), byA(), limit); !errors.Is(err, apikey.ErrTooMany) {
		t.Errorf("one key too many: %v, want apikey.ErrTooMany", err)
	}
}

func archiveKeyOwners(t *testing.T, a store.Archive) {
	withKeys(t, a, keyOne)
	must(t, a.Grant(t.Context(), keyOne, guildA, byA()))
	before := mustGet(a.Key(t.Context(), keyOne))(t)
	version := mustGet(a.LatestChange(t.Context()))(t)
	other := apikey.User(ownerB)
	for name, err := range map[string]error{
		"grant":   a.Grant(t.Context(), keyOne, guildB, other),
		"ungrant": a.Ungrant(t.Context(), keyOne, guildA, other),
		"rename":  a.RenameKey(t.Context(), keyOne, "mine now", other),
		"rotate":  a.RotateKey(t.Context(), keyOne, apikey.Rotation{Hash: [32]byte{1}, Now: time.Now()}, other),
		"revoke":  a.RevokeKey(t.Context(), keyOne, other),
	} {
		if !errors.Is(err, apikey.ErrNotFound) {
			t.Errorf("%s by another user: %v, want apikey.ErrNotFound", name, err)
		}
	}
	after, err := a.Key(t.Context(), keyOne)
	if err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("refused changes made the key %+v (%v), want %+v", after, err, before)
	}
	if now, err := a.LatestChange(t.Context()); err != nil || now != version {
		t.Errorf("refused changes moved the change log from %d to %d (%v)", version, now, err)
	}
	if list := owned(t, a, ownerB, 0); len(list) != 0 {
		t.Errorf("another user's list is %+v, want none", list)
	}
}

func archiveOwnedKeys(t *testing.T, a store.Archive) {
	withKeys(t, a, keyOne)
	newer := aKey(keyTwo, guildB, guildA)
	newer.CreatedAt = newer.CreatedAt.Add(time.Second)
	must(t, a.CreateKey(t.Context(), newer, apikey.Operator, 0))
	must(t, a.RenameKey(t.Context(), keyOne, "an ö", byA()))
	list := owned(t, a, ownerA, 0)
	if len(list) != 2 || list[0].ID != keyTwo || list[1].ID != keyOne || list[1].Name != "an ö" {
		t.Fatalf("the list is %+v, want the newer key first", list)
	}
	if list[0].LastUsed != nil || list[0].Requests != 0 {
		t.Errorf("an unused key was last used at %v, with %d requests", list[0].LastUsed, list[0].Requests)
	}
	if piece, err := a.OwnedKeys(t.Context(), ownerA, 0, 1); err != nil || len(piece) != 1 || piece[0].ID != keyTwo {
		t.Errorf("the first page of one key is %+v (%v), want %s", piece, err, keyTwo)
	}
	for _, step := range []struct {
		name string
		do   func() error
		err  error
		want []apikey.Grant
	}{
		{"granted by the operator", func() error { return nil }, nil, []apikey.Grant{{GuildID: guildA, By: apikey.Operator}, {GuildID: guildB, By: apikey.Operator}}},
		{"granted again by the user", func() error { return a.Grant(t.Context(), keyTwo, guildA, byA()) }, nil, []apikey.Grant{{GuildID: guildA, By: apikey.Operator}, {GuildID: guildB, By: apikey.Operator}}},
		{"ungranted by the user", func() error { return a.Ungrant(t.Context(), keyTwo, guildA, byA()) }, nil, []apikey.Grant{{GuildID: guildB, By: apikey.Operator}}},
		{"granted by the user", func() error { return a.Grant(t.Context(), keyTwo, guildA, byA()) }, nil, []apikey.Grant{{GuildID: guildA, By: byA()}, {GuildID: guildB, By: apikey.Operator}}},
		{"granted for an unknown guild", func() error { return a.Grant(t.Context(), keyTwo, "100000000000000009", byA()) }, guild.ErrNotFound, []apikey.Grant{{GuildID: guildA, By: byA()}, {GuildID: guildB, By: apikey.Operator}}},
		{"granted again by the operator", func() error { return a.Grant(t.Context(), keyTwo, guildA, apikey.Operator) }, nil, []apikey.Grant{{GuildID: guildA, By: apikey.Operator}, {GuildID: guildB, By: apikey.Operator}}},
	} {
		if err := step.do(); !errors.Is(err, step.err) {
			t.Errorf("%s: %v, want %v", step.name, err, step.err)
		}
		if got := grantsOf(t, a, keyTwo); got != fmt.Sprint(step.want) {
			t.Errorf("%s: the grants are %s, want %v", step.name, got, step.want)
		}
	}
}

func archiveKeepGrants(t *testing.T, a store.Archive) {
	withKeys(t, a, keyOne, keyTwo)
	third := id.Guild("100000000000000003")
	put(t, a, settingsOf(t, third, ""))
	other := aKey("ofsomebody01", guildB)
	other.OwnerID = ownerB
	for name, err := range map[string]error{
		"of somebody else": a.CreateKey(t.Context(), other, apikey.User(ownerB), 0),
		"of the operator":  a.Grant(t.Context(), keyOne, guildB, apikey.Operator),
		"lost":             a.Grant(t.Context(), keyTwo, guildB, byA()),
		"lost too":         a.Grant(t.Context(), keyTwo, third, byA()),
		"kept":             a.Grant(t.Context(), keyTwo, guildA, byA()),
	} {
		if err != nil {
			t.Fatalf("setting up the grant %s: %v", name, err)
		}
	}
	version := mustGet(a.LatestChange(t.Context()))(t)
	for round, want := range []string{"[" + keyTwo + "]", "[]"} {
		changed, err := a.KeepGrants(t.Context(), ownerA, []id.Guild{guildA})
		if err != nil || fmt.Sprint(changed) != want {
			t.Errorf("round %d: the keys %v lost grants (%v), want %s", round, changed, err, want)
		}
	}
	if now, err := a.LatestChange(t.Context()); err != nil || now != version+1 {
		t.Errorf("%d changes were logged (%v), want 1", now-version, err)
	}
	for keyID, want := range map[string]apikey.Grant{keyOne: {GuildID: guildB, By: apikey.Operator}, keyTwo: {GuildID: guildA, By: byA()}} {
		if got := grantsOf(t, a, keyID); got != fmt.Sprint([]apikey.Grant{want}) {
			t.Errorf("%s has the grants %s, want %v", keyID, got, want)
		}
	}
	if changed, err := a.KeepGrants(t.Context(), ownerA, nil); err != nil || fmt.Sprint(changed) != "["+keyTwo+"]" {
		t.Errorf("with no guild left the keys %v lost grants (%v), want %s", changed, err, keyTwo)
	}
	if k, err := a.Key(t.Context(), other.ID); err != nil || !k.Granted(guildB) {
		t.Errorf("another owner's key became %+v (%v), want its grant kept", k, err)
	}
}
