package redisstore

import (
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/usecase/leaderboard"
)

func FuzzEncodeUser(f *testing.F) {
	f.Add("a", "b", "c", "d", "e", byte(7))
	f.Add("", "", "", "", "", byte(0))
	f.Add("0123456789abcdef0123456789abcdef", "0", "", "", "", byte(6))
	f.Add("a_0123456789abcdef0123456789abcdef", "0", "b", "c", "", byte(4))
	f.Add("a_0123456789ABCDEF0123456789abcdef", "0", "b", "c", "", byte(4))
	f.Add("", "0", "Ünï🎉", `"'\`, "#fff", byte(2))
	f.Fuzz(func(t *testing.T, avatar, discriminator, global, username, accent string, nulls byte) {
		nullable := func(s string, bit byte) *string {
			if nulls&bit != 0 {
				return nil
			}
			return &s
		}
		u := leaderboard.User{
			Avatar: nullable(avatar, 1), Discriminator: discriminator, GlobalName: nullable(global, 2), Username: username, AccentColour: nullable(accent, 4),
		}
		text, err := encodeUser(u)
		if err != nil {
			if !strings.Contains(avatar+discriminator+global+username+accent, "\x00") {
				t.Fatalf("encoding %+v: %v", u, err)
			}
			return
		}
		if back, err := parseEntry("0\x000\x000\x00\x00\x00" + text); err != nil || !reflect.DeepEqual(back.user, u) {
			t.Fatalf("the user %+v is read back as %+v (%v)", u, back.user, err)
		}
	})
}

// Each text either fails to parse, or parses to an entry that is written as the same text.
func FuzzParseEntry(f *testing.F) {
	const nobody = "\x00\x00\x00\x00"
	for _, text := range []string{
		"", "0 0 0", "0\x000\x000\x00\x00" + nobody, "12\x001700000000000\x001700000060000\x00\x00=a\x000\x00=\x00ada\x00=#fff", "1\x002",
		"9223372036854775808\x000\x000\x00\x00" + nobody, "1\x002\x003\x0020782:350,20781:-5\x00" + nobody, "1\x002\x003\x00!\x00" + nobody,
		"1\x002\x003\x00x\x00" + nobody, "1\x002\x003\x00\x00a" + nobody,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEntry(text)
		if err != nil {
			return
		}
		user, err := encodeUser(e.user)
		if err != nil {
			t.Fatalf("encoding %+v: %v", e.user, err)
		}
		if back, err := parseEntry(entryText(e, user)); err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("the entry %+v is read back as %+v (%v)", e, back, err)
		}
	})
}
