package strictjson_test

import (
	stdjson "encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/strictjson"
)

// An accepted document is valid UTF-8 and valid JSON for the standard library.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		with(""), with(`,"raw":[{"a":1,"b":[null,1e999]}]`), with(`,"tags":["\u0041"],"flag":false`), with(`,"xp":2`),
		with(`,"until":"2026-01-02T15:04:05Z"`), with(`,"factor":2.5e-1`), with(`,"friends":[{"avatar":"a","username":"b"}]`),
		`{"xp":1,"user":{"avatar":null,"discriminator":"0","username":"x"}}`, ``, `null`, `[`, `{"xp":1}{}`, "\xff", `{"XP":1}`, with(`,"raw":` + strings.Repeat("[", 20_000)),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := strictjson.Decode(data, new(body))
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("%q: %v is not the client's fault", data, err)
			}
			if message := fault.From(err).Message; !utf8.ValidString(message) || strings.Contains(message, "strictjson") {
				t.Fatalf("%q gives the unreadable message %q", data, message)
			}
			return
		}
		if !utf8.Valid(data) || !stdjson.Valid(data) {
			t.Fatalf("%q is accepted, which is invalid UTF-8 or JSON", data)
		}
	})
}
