package redisstore_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/store/redisstore"
	"levelboard/internal/testing/testenv"
)

// A change whose reply was lost may have been made, so its guild is in the index.
func TestAGuildIsIndexedThoughTheReplyIsLost(t *testing.T) {
	server := testenv.Redis(t)
	proxy := testenv.NewProxy(t, server.Addr())
	s := redisstore.New(connect(t, "redis://"+proxy.Addr()), redisstore.Options{})
	load(t, s, row(user1))
	proxy.Next(testenv.NoReply)
	if o, err := s.Change(t.Context(), guild1, user1, plusOne); err == nil {
		t.Fatalf("a change without a reply: %+v, want an error", o)
	}
	guilds, err := s.ChangedGuilds(t.Context())
	if err != nil || !slices.Equal(guilds, []id.Guild{guild1.ID}) {
		t.Errorf("the changed guilds are %v (%v), want %v", guilds, err, guild1.ID)
	}
}

// A value in an unknown format causes an error, and no change.
func TestDamagedValuesAreErrors(t *testing.T) {
	ctx := t.Context()
	client := connect(t, testenv.Redis(t).URL())
	s := redisstore.New(client, redisstore.Options{})
	load(t, s, row(user1))
	want, err := s.Version(ctx, guild1)
	if err != nil {
		t.Fatal(err)
	}
	const key = prefix + "entry"
	good := client.HGet(ctx, key, string(user1)).Val()
	for _, bad := range []string{"", "1 2", "1\x002\x003", "a\x00b\x00c\x00\x00\x00\x00\x00\x00", "1\x002\x003x\x00\x00\x00\x00\x00\x00", "1\x002\x003\x00\x00a\x00\x00\x00\x00", "1\x002\x003\x00\x00\x00\x00"} {
		client.HSet(ctx, key, string(user1), bad)
		if m, err := s.Member(ctx, guild1, user1); err == nil {
			t.Errorf("the entry %q is read as %+v, want an error", bad, m)
		}
		if p, err := s.Page(ctx, guild1, 0, 10); err == nil {
			t.Errorf("a page with the entry %q is read as %+v, want an error", bad, p)
		}
		if !strings.HasPrefix(bad, "1\x002\x003\x00\x00") { // a change does not read user data
			if o, err := s.Change(ctx, guild1, user1, plusOne); err == nil {
				t.Errorf("a change of the entry %q: %+v, want an error", bad, o)
			}
		}
	}
	client.HSet(ctx, key, string(user1), good)
	got, err := s.Version(ctx, guild1)
	if m, _ := s.Member(ctx, guild1, user1); err != nil || !reflect.DeepEqual(got, want) || m.XP != 100 {
		t.Errorf("the version is %+v (%v) with %d XP, want %+v and 100", got, err, m.XP, want)
	}
}
