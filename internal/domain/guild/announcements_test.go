package guild_test

import (
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/platform/outbound"
)

// announcing returns a guild's document with announcements.
func announcing(list string) []byte {
	return []byte(`{"name":"Gophers","memberCount":5,"ownerId":"200000000000000001","announcements":[` + list + `]}`)
}

func TestAnnouncementsAreReadAndShownWithoutAddresses(t *testing.T) {
	s, err := guild.Parse("100000000000000001", announcing(`{"name":"general","kind":"discord","url":"https://discord.com/api/webhooks/1/topsecret"},
		{"name":"board","kind":"board","url":"https://discord.com/api/webhooks/2/topsecret","top":3,"period":"week"},{"name":"bot","kind":"bot"}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `"name":"general","kind":"discord","url":"https://discord.com/…","events":["levelup","period"],"text":null,"from":1,"every":1,"levels":[],"onlyWithRoles":false,"mention":true,"period":null,"top":0}`
	shown, err := guild.Marshal(s)
	if err != nil || !strings.Contains(string(shown), want) || strings.Contains(string(shown), "topsecret") || !strings.Contains(string(shown), `"kind":"bot","url":null`) ||
		!strings.Contains(string(shown), `"events":[],"text":null`) {
		t.Errorf("the document is shown as %s (%v), want no address and empty events", shown, err)
	}
	kept, err := guild.MarshalSecrets(s)
	if err != nil || !strings.Contains(string(kept), "/1/topsecret") {
		t.Errorf("the document is archived as %s (%v), want the address", kept, err)
	}
	back, err := guild.Unmarshal(kept)
	if err != nil || back.Announcements[1].URL != s.Announcements[1].URL {
		t.Errorf("the archived document is read as %+v (%v), want the address", back.Announcements, err)
	}
	given, err := guild.Parse(s.ID, shown)
	if err != nil || !guild.Same(s, given) {
		t.Errorf("the shown document differs from the one it shows: %v", err)
	}
	given.Announcements[0].URL = "https://discord.com/api/webhooks/1/other"
	if guild.Same(s, given) {
		t.Error("a document with another address counts as the same")
	}
	was, is, err := guild.Changes(&guild.Described{Settings: s}, guild.Described{Settings: given})
	if err != nil || !strings.Contains(string(was), "announcements") || strings.Contains(string(was)+string(is), "webhooks") || strings.Contains(string(is), "vanity") {
		t.Errorf("the changes are %s and %s (%v), want announcements without addresses", was, is, err)
	}
}

func TestInvalidAnnouncementsAreRefused(t *testing.T) {
	const id = "6ba7b810-9dad-41d1-80b4-00c04fd430c8"
	levels := strings.TrimSuffix(strings.Repeat("1,", 101), ",")
	for given, want := range map[string]string{
		`"kind":"discord","url":"https://x.example/"`:                                  "name",
		`"name":"","kind":"discord","url":"https://x.example/"`:                        "name",
		`"name":"n","kind":"sms","url":"https://x.example/"`:                           "kind",
		`"name":"n","kind":"discord","url":"ftp://x.example/"`:                         "url",
		`"name":"n","kind":"discord","url":"https://u@x.example/"`:                     "url",
		`"name":"n","kind":"bot","url":"https://x.example/"`:                           "url",
		`"name":"n","kind":"bot","id":"7"`:                                             "id",
		`"name":"n","kind":"bot","events":[]`:                                          "events",
		`"name":"n","kind":"bot","events":["levelup","levelup"]`:                       "events[1]",
		`"name":"n","kind":"bot","events":["removed"]`:                                 "events[0]",
		`"name":"n","kind":"bot","events":["x"]`:                                       "events[0]",
		`"name":"n","kind":"bot","from":0`:                                             "from",
		`"name":"n","kind":"bot","every":10001`:                                        "every",
		`"name":"n","kind":"bot","levels":[5,5]`:                                       "levels[1]",
		`"name":"n","kind":"bot","levels":[0]`:                                         "levels[0]",
		`"name":"n","kind":"bot","levels":[` + levels + `]`:                            "levels",
		`"name":"n","kind":"bot","text":""`:                                            "text",
		`"name":"n","kind":"bot","text":"{foo}"`:                                       "text",
		`"name":"n","kind":"bot","text":"` + strings.Repeat("x", 1801) + `"`:           "text",
		`"name":"n","kind":"bot","top":3`:                                              "top",
		`"name":"n","kind":"bot","period":"day"`:                                       "period",
		`"name":"n","kind":"board","url":"https://x.example/"`:                         "top",
		`"name":"n","kind":"board","url":"https://x.example/","top":26`:                "top",
		`"name":"n","kind":"board","url":"https://x.example/","top":3,"period":"year"`: "period",
	} {
		_, err := guild.Parse("100000000000000001", announcing("{"+given+"}"))
		if f := fault.From(err); !fault.Is(err, fault.Invalid) || f.Path != "announcements[0]."+want && !strings.Contains(f.Message, "announcements[0]."+want) {
			t.Errorf("the announcement %s gives %v, want a fault at %s", given, err, want)
		}
	}
	_, err := guild.Parse("100000000000000001", announcing(`{"name":"n","kind":"bot","text":"hey {who}"}`))
	if text := fmt.Sprint(err); !strings.Contains(text, "announcements[0].text") || !strings.Contains(text, "{who}") || !strings.Contains(text, "character 5") {
		t.Errorf("an invalid text gives %v, want its placeholder and character", err)
	}
	twice := `{"id":"` + id + `","name":"n","kind":"bot"}`
	if _, err := guild.Parse("100000000000000001", announcing(twice+","+twice)); !fault.Is(err, fault.Invalid) || fault.From(err).Path != "announcements[1].id" {
		t.Errorf("an id twice gives %v, want a fault at announcements[1].id", err)
	}
}

func TestHTTPNeedsAnAllowedHost(t *testing.T) {
	s, err := guild.Parse("100000000000000001", announcing(`{"name":"n","kind":"discord","url":"http://hooks.internal/x"}`))
	if err != nil {
		t.Fatal(err)
	}
	hosts, _ := outbound.ParseHosts([]string{"hooks.internal"})
	if err := s.CheckHosts(hosts.Name); err != nil {
		t.Errorf("an allowed host: %v, want it accepted", err)
	}
	change, err := guild.ParseChange(s.ID, []byte(`{"announcements":[{"name":"n","kind":"discord","url":"http://hooks.internal/x"}]}`))
	if err != nil || change.CheckHosts(hosts.Name) != nil || !fault.Is(change.CheckHosts(nil), fault.Invalid) {
		t.Errorf("a change to an allowed host, or to another: %v", err)
	}
	if err := s.CheckHosts(nil); !fault.Is(err, fault.Invalid) || fault.From(err).Path != "announcements[0].url" {
		t.Errorf("a host that is not allowed: %v, want a fault at announcements[0].url", err)
	}
}
