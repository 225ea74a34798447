package redisstore

import (
	"reflect"
	"strings"
	"testing"

	"levelboard/internal/usecase/leaderboard"
)

// Whatever text is found, it decodes to what encodes to it again, or it is an error.
func FuzzDecodeUser(f *testing.F) {
	for _, text := range []string{"", "0\x00\x00\x00\x00", "7a\x00b\x00c\x00d\x00e", "1\x00x\x00\x00y\x00", "8", "0a\x00b", "90123456789abcdef\x00\x00\x00\x00", "I0123456789abcdef\x000\x00\x00ada\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := decodeUser(text)
		if err != nil {
			return
		}
		again, err := encodeUser(u)
		if err != nil {
			t.Fatalf("%q decoded to %+v, which does not encode: %v", text, u, err)
		}
		if back, err := decodeUser(again); err != nil || !reflect.DeepEqual(back, u) {
			t.Fatalf("%+v came back as %+v, %v", u, back, err)
		}
	})
}

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
				t.Fatalf("%+v: %v", u, err)
			}
			return
		}
		if back, err := decodeUser(text); err != nil || !reflect.DeepEqual(back, u) {
			t.Fatalf("%+v came back as %+v, %v", u, back, err)
		}
	})
}

func FuzzParseEntry(f *testing.F) {
	for _, text := range []string{"0 0 0", "12 1700000000000 1700000060000", "1 2", "1  2 3", "9223372036854775808 0 0", "1 2 3 ", "1 2 3 0\x00\x00\x00\x00", "1 2 3;20782:350,20781:-5 0\x00\x00\x00\x00", "1 2 3;!", "1 2 3;x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEntry(text)
		if err != nil {
			return
		}
		if back, err := parseEntry(e.String()); err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("%+v came back as %+v, %v", e, back, err)
		}
	})
}
