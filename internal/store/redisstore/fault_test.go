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
		t.Fatalf("a change without a reply: %+v", o)
	}
	guilds, err := s.ChangedGuilds(t.Context())
	if err != nil || !slices.Equal(guilds, []id.Guild{guild1.ID}) {
		t.Errorf("changed guilds %v, %v, want %v", guilds, err, guild1.ID)
	}
}

// A value in a format that this package does not write causes an error, and no change.
func TestDamagedValues(t *testing.T) {
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
			t.Errorf("%q read as %+v", bad, m)
		}
		if p, err := s.Page(ctx, guild1, 0, 10); err == nil {
			t.Errorf("%q read as %+v", bad, p)
		}
		if !strings.HasPrefix(bad, "1\x002\x003\x00\x00") { // a change copies user data unread
			if o, err := s.Change(ctx, guild1, user1, plusOne); err == nil {
				t.Errorf("%q changed: %+v", bad, o)
			}
		}
	}
	client.HSet(ctx, key, string(user1), good)
	got, err := s.Version(ctx, guild1)
	if m, _ := s.Member(ctx, guild1, user1); err != nil || !reflect.DeepEqual(got, want) || m.XP != 100 {
		t.Errorf("version %+v (%v) and %d XP, want %+v and 100", got, err, m.XP, want)
	}
}
