package apikey_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
)

// body returns a valid request with some properties replaced ("" removes one).
func body(replace map[string]string) string {
	properties := map[string]string{"name": `"bot"`, "ownerId": `"100000000000000001"`, "permission": `"read"`}
	for name, value := range replace {
		properties[name] = value
	}
	var parts []string
	for name, value := range properties {
		if value != "" {
			parts = append(parts, fmt.Sprintf("%q:%s", name, value))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestANewKeyHasDefaults(t *testing.T) {
	for name, text := range map[string]string{
		"absent": body(nil),
		"null":   body(map[string]string{"expiresAt": "null", "rateLimit": "null", "guildIds": "[]"}),
	} {
		got, err := apikey.ParseNewKey([]byte(text), noon)
		want := apikey.NewKey{Name: "bot", OwnerID: "100000000000000001", Permission: apikey.Read, GuildIDs: []id.Guild{}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the new key is %+v (%v), want %+v", name, got, err, want)
		}
	}
}

func TestANewKeysPropertiesAreRead(t *testing.T) {
	got, err := apikey.ParseNewKey([]byte(body(map[string]string{
		"name": `"Bot ü 😀"`, "permission": `"read_write"`, "guildIds": `["200000000000000002","200000000000000001"]`,
		"expiresAt": `"2026-05-01T14:00:00.1239+01:00"`, "rateLimit": "0",
	})), noon)
	expiry, none := time.Date(2026, 5, 1, 13, 0, 0, 123e6, time.UTC), 0
	want := apikey.NewKey{
		Name: "Bot ü 😀", OwnerID: "100000000000000001", Permission: apikey.ReadWrite,
		GuildIDs: []id.Guild{"200000000000000001", "200000000000000002"}, ExpiresAt: &expiry, RateLimit: &none,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("the new key is %+v (%v), want %+v", got, err, want)
	}
}

func guildList(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%d", 200000000000000000+i)
	}
	text, _ := json.Marshal(list)
	return string(text)
}

func TestANewKeysPropertiesAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ property, last, beyond string }{
		"name":        {"name", `"` + strings.Repeat("é", 50) + `"`, `"` + strings.Repeat("é", 50) + `x"`},
		"rateLimit":   {"rateLimit", "2147483647", "2147483648"},
		"no limit":    {"rateLimit", "0", "-1"},
		"guildIds":    {"guildIds", guildList(1000), guildList(1001)},
		"expiresAt":   {"expiresAt", `"2026-05-01T12:00:00.001Z"`, `"2026-05-01T12:00:00Z"`},
		"below 1 ms":  {"expiresAt", `"2026-05-01T12:00:01Z"`, `"2026-05-01T12:00:00.0009Z"`},
		"far future":  {"expiresAt", `"9999-12-31T22:59:59.999-01:00"`, `"9999-12-31T23:00:00-01:00"`},
		"permissions": {"permission", `"read_write"`, `"write"`},
	} {
		if _, err := apikey.ParseNewKey([]byte(body(map[string]string{c.property: c.last})), noon); err != nil {
			t.Errorf("%s: the last allowed value is refused: %v", name, err)
		}
		_, err := apikey.ParseNewKey([]byte(body(map[string]string{c.property: c.beyond})), noon)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.property) {
			t.Errorf("%s: the first value beyond the bound gives %v, want fault.Invalid", name, err)
		}
	}
}

func TestInvalidNewKeysAreRefused(t *testing.T) {
	for property, values := range map[string][]string{
		"name": {"", "null", `""`, `" "`, "1", `"a\nb"`, `"a\u007f"`, `"a\u0085"`, `"a\u0000"`, `"\u200b"`, `"\u200d \ufeff"`, `"\u3164"`,
			`"\u202egod"`, `"bot\u2069"`, `"bot\u200f"`, `"\u061cbot"`},
		"ownerId":    {"", "null", `""`, "100000000000000001", `"1"`, `"010000000000000001"`, `"10000000000000000000"`},
		"permission": {"", "null", `""`, `"READ"`, `["read"]`},
		"guildIds":   {"null", `"200000000000000001"`, `[200000000000000001]`, `[null]`, `["x"]`, `["200000000000000001","200000000000000001"]`},
		"expiresAt":  {`""`, `"tomorrow"`, "1893456000", `"2030-01-01"`, `"2030-01-01T00:00:00"`, `"2020-01-01T00:00:00Z"`, `"2030-13-01T00:00:00Z"`},
		"rateLimit":  {"1.5", `"1"`, "1e9", "true"},
		"Name":       {`"bot"`},
		"id":         {`"abcdefghijkl"`},
	} {
		for _, value := range values {
			_, err := apikey.ParseNewKey([]byte(body(map[string]string{property: value})), noon)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), property) {
				t.Errorf("%s of %q gives %v, want fault.Invalid that names it", property, value, err)
			}
		}
	}
	for _, text := range []string{"", "null", "[]", body(nil) + "{}", `{"name":"a","name":"b"}`} {
		if _, err := apikey.ParseNewKey([]byte(text), noon); !fault.Is(err, fault.Invalid) {
			t.Errorf("the body %q gives %v, want fault.Invalid", text, err)
		}
	}
}
