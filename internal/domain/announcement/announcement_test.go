package announcement

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/level"
)

func TestWantsFollowsLevelsAndEvents(t *testing.T) {
	for _, c := range []struct {
		name              string
		a                 Announcement
		previous, reached level.Level
		want              bool
	}{
		{"each level", Announcement{From: 1, Every: 1}, 1, 2, true},
		{"below from", Announcement{From: 5, Every: 1}, 3, 4, false},
		{"at from", Announcement{From: 5, Every: 1}, 4, 5, true},
		{"over from", Announcement{From: 5, Every: 1}, 3, 9, true},
		{"a multiple", Announcement{From: 1, Every: 5}, 9, 10, true},
		{"between multiples", Announcement{From: 1, Every: 5}, 10, 14, false},
		{"over a multiple", Announcement{From: 1, Every: 5}, 8, 13, true},
		{"the multiple is below from, the level above", Announcement{From: 12, Every: 5}, 8, 13, false},
		{"a listed level", Announcement{From: 1, Every: 7, Levels: []level.Level{3, 10}}, 9, 10, true},
		{"over a listed level", Announcement{From: 1, Every: 7, Levels: []level.Level{3, 10}}, 2, 4, true},
		{"no listed level", Announcement{From: 1, Every: 1, Levels: []level.Level{3, 10}}, 3, 9, false},
		{"a listed level below from", Announcement{From: 4, Every: 1, Levels: []level.Level{3}}, 2, 5, false},
		{"without roles", Announcement{From: 1, Every: 1, OnlyWithRoles: true}, 5, 7, false},
		{"for periods only", Announcement{From: 1, Every: 1, Events: []Event{PeriodOf}}, 1, 2, false},
		{"a board", Announcement{From: 1, Every: 1, Kind: Board}, 1, 2, false},
	} {
		if c.a.Events == nil {
			c.a.Events = []Event{LevelUp}
		}
		if got := c.a.Wants(c.previous, c.reached, nil); got != c.want {
			t.Errorf("%s: Wants returns %v, want %v", c.name, got, c.want)
		}
	}
	if a := (Announcement{From: 1, Every: 1, OnlyWithRoles: true, Events: []Event{LevelUp}}); !a.Wants(3, 7, []string{"Regular"}) {
		t.Error("Wants with roles returns false, want true")
	}
}

func TestASecretIsNotShown(t *testing.T) {
	s := Secret("https://Discord.com:8443/api/webhooks/1/topsecret?thread_id=5")
	const shown = "https://Discord.com:8443/…"
	encoded, err := json.Marshal(Announcement{URL: s})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(encoded), fmt.Sprint(s), fmt.Sprintf("%#v %+v %q", s, Announcement{URL: s}, s)} {
		if strings.Contains(text, "topsecret") || !strings.Contains(text, shown) {
			t.Errorf("the secret is printed as %s, want %s", text, shown)
		}
	}
	if s.IsShown() || !Secret(s.Shown()).IsShown() || s.Reveal() != string(s) {
		t.Error("the shown form counts as the address, or the address as shown")
	}
}

func TestInvalidAddressesAreExplained(t *testing.T) {
	allowed := func(host string) bool { return host == "10.1.2.3" || host == "hooks.INTERNAL." || host == "::1" }
	for address, want := range map[string]string{
		"https://discord.com/api/webhooks/1/x": "", "https://discord.com": "", "http://10.1.2.3:80/x": "", "http://hooks.INTERNAL./": "", "http://[::1]:1/": "",
		"http://discord.com/": "https://", "http://localhost/": "https://", "http://11.0.0.1/": "https://", "ftp://x/": "https://", "x": "https://", "https:///x": "https://",
		"https://:443/x": "https://", "https://u@x/": "user", "https://x/#f": "fragment", "https://x/#": "fragment", "https://x/" + strings.Repeat("é", 2000): "2000",
	} {
		got := Secret(address).Check(allowed)
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("the address %s gives %q, want %q", address, got, want)
		}
	}
}
