package strictjson_test

import (
	stdjson "encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/strictjson"
)

// What is accepted is plain to every other reader: UTF-8, JSON by the standard library, no name twice in any letter case
// among the properties of the type, and no name twice at all.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		with(""), with(`,"raw":[{"a":1,"b":[null,1e999]}]`), with(`,"tags":["\u0041"],"flag":false`), with(`,"xp":2`),
		with(`,"until":"2026-01-02T15:04:05Z"`), with(`,"factor":2.5e-1`), with(`,"friends":[{"avatar":"a","username":"b"}]`),
		`{"xp":1,"user":{"avatar":null,"discriminator":"0","username":"x"}}`, ``, `null`, `[`, `{"xp":1}{}`, "\xff", `{"XP":1}`,
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
				t.Fatalf("%q: odd message %q", data, message)
			}
			return
		}
		if !utf8.Valid(data) || !stdjson.Valid(data) {
			t.Fatalf("%q was accepted", data)
		}
		if name, twice := repeated(t, data); twice {
			t.Fatalf("%q was accepted with %q twice", data, name)
		}
	})
}

// repeated finds a name that an object holds twice, by the standard library's tokens.
func repeated(t *testing.T, data []byte) (string, bool) {
	type object struct {
		isArray  bool
		wantName bool
		names    map[string]bool
	}
	var stack []*object
	d := stdjson.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return "", false
		}
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		var top *object
		if len(stack) > 0 {
			top = stack[len(stack)-1]
		}
		if name, ok := token.(string); ok && top != nil && !top.isArray && top.wantName {
			if top.names[name] {
				return name, true
			}
			top.names[name], top.wantName = true, false
			continue
		}
		switch token {
		case stdjson.Delim('{'), stdjson.Delim('['):
			if top != nil {
				top.wantName = true
			}
			stack = append(stack, &object{isArray: token == stdjson.Delim('['), wantName: true, names: map[string]bool{}})
		case stdjson.Delim('}'), stdjson.Delim(']'):
			stack = stack[:len(stack)-1]
		default:
			if top != nil {
				top.wantName = true
			}
		}
	}
}
