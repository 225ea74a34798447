package strictjson_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/strictjson"
)

type user struct {
	Avatar     *string                      `json:"avatar"`
	Username   string                       `json:"username" bytes:"1..8"`
	GlobalName strictjson.Optional[*string] `json:"globalName"`
}

type body struct {
	XP      int64                                 `json:"xp" bounds:"0..2147483647"`
	User    user                                  `json:"user"`
	Factor  strictjson.Optional[float64]          `json:"factor" bounds:"0..5"`
	Tags    strictjson.Optional[[]string]         `json:"tags" items:"0..3"`
	Friends strictjson.Optional[[]user]           `json:"friends" items:"1..2"`
	Raw     strictjson.Optional[strictjson.Value] `json:"raw"`
	Flag    strictjson.Optional[bool]             `json:"flag"`
	Until   strictjson.Optional[*time.Time]       `json:"until"`
	Small   strictjson.Optional[int32]            `json:"small"`
	Big     strictjson.Optional[float64]          `json:"big"`
}

// with returns a valid body with more properties.
func with(more string) string {
	return `{"xp":1,"user":{"avatar":null,"username":"x"}` + more + `}`
}

func TestDecodeReadsValidBodies(t *testing.T) {
	var b body
	in := ` {"user":{"globalName":null,"username":"x","avatar":"hash"},"xp":2147483647,"factor":-0,"tags":["a","é\ud83d\ude00"],
		"raw":{"any":[1,null]},"flag":true,"until":"2026-01-02T15:04:05Z","friends":[{"avatar":null,"username":"y"}]} `
	if err := strictjson.Decode([]byte(in), &b); err != nil {
		t.Fatal(err)
	}
	if b.XP != 2147483647 || *b.User.Avatar != "hash" || b.User.Username != "x" || !b.Flag.Or(false) {
		t.Errorf("the body is read as %+v", b)
	}
	if name, present := b.User.GlobalName.Get(); !present || name != nil {
		t.Errorf("globalName is read as %v, present %v, want a present null", name, present)
	}
	if b.Small.Or(7) != 7 {
		t.Error("the absent property small counts as present")
	}
	if tags, _ := b.Tags.Get(); len(tags) != 2 || tags[1] != "é😀" {
		t.Errorf("the tags are read as %q", tags)
	}
	var kept struct {
		Any strictjson.Value `json:"any"`
	}
	if raw, _ := b.Raw.Get(); raw.Kind() != '{' || raw.Path() != "raw" || raw.Decode(&kept) != nil || kept.Any.Kind() != '[' || kept.Any.Path() != "raw.any" {
		t.Errorf("the raw value is %+v, want it kept with its path", raw)
	}
	if until, _ := b.Until.Get(); until == nil || until.Year() != 2026 {
		t.Errorf("until is read as %v, want a time in 2026", until)
	}

	var absent, null body
	for in, into := range map[string]*body{with(""): &absent, with(`,"until":null,"raw":null`): &null} {
		if err := strictjson.Decode([]byte(in), into); err != nil {
			t.Fatalf("decoding %s: %v", in, err)
		}
	}
	_, until := absent.Until.Get()
	_, name := absent.User.GlobalName.Get()
	if _, raw := absent.Raw.Get(); until || name || raw {
		t.Error("absent properties count as present")
	}
	_, until = null.Until.Get()
	if raw, present := null.Raw.Get(); !present || raw.Kind() != 'n' || !until {
		t.Errorf("null counts as absent: raw is %+v, present %v", raw, present)
	}
}

func TestDecodeExplainsInvalidBodies(t *testing.T) {
	long := strings.Repeat("é", 100)
	const friend = `{"avatar":null,"username":"x"}`
	for _, tc := range []struct{ name, in, want string }{
		{"empty", "", "The body is empty; send a JSON value"},
		{"blank", " \n", "The body is empty; send a JSON value"},
		{"not UTF-8", with(`,"tags":["` + "\xff" + `"]`), "The body must be valid UTF-8"},
		{"lone surrogate", with(`,"tags":["\ud800"]`), "The body is not valid JSON; see byte 55"},
		{"cut off", `{"xp":1`, "The body is not complete JSON: it ends too early"},
		{"cut off in a list", strings.TrimSuffix(with(`,"tags":[`), "}"), "The body is not complete JSON: it ends too early"},
		{"not JSON", `{xp:1}`, "The body is not valid JSON; see byte 1"},
		{"trailing comma", with(`,`), "The body is not valid JSON; see byte 45"},
		{"two values", with("") + `{}`, "The body must be one JSON value with nothing after it"},
		{"text after", with("") + `x`, "The body must be one JSON value with nothing after it"},
		{"wrong root", `[]`, "The body must be an object, not an array"},
		{"null root", `null`, "The body must not be null; it must be an object"},
		{"unknown", `{"user":{"locale":"de"}}`, `"locale" is not a property of user`},
		{"unknown at root", with(`,"a\nb":1`), `"a\nb" is not a property of the body`},
		{"long unknown", with(`,"` + long + `":1`), `"` + strings.Repeat("é", 32) + `..." is not a property of the body`},
		{"case variant", `{"XP":1}`, `"XP" is not a property of the body; write it as "xp"`},
		{"case variant besides", with(`,"Xp":1`), `"Xp" is not a property of the body; write it as "xp"`},
		{"duplicate", with(`,"xp":2`), "xp is given twice"},
		{"escaped duplicate", with(`,"\u0078p":2`), "xp is given twice"},
		{"nested duplicate", `{"user":{"username":"a","username":"b"}}`, "user.username is given twice"},
		{"duplicate in a raw value", with(`,"raw":[{"a":1,"a":2}]`), "raw[0].a is given twice"},
		{"duplicate of an odd name", with(`,"raw":{"a b":1,"a b":2}`), `raw."a b" is given twice`},
		{"missing", `{"xp":1}`, "user is required"},
		{"missing nested", `{"xp":1,"user":{"avatar":null}}`, "user.username is required"},
		{"missing nullable", `{"xp":1,"user":{"username":"x"}}`, "user.avatar is required"},
		{"missing in a list", with(`,"friends":[{"avatar":null,"username":"x"},{}]`), "friends[1].avatar is required"},
		{"null integer", `{"xp":null}`, "xp must not be null; it must be a whole number from 0 to 2147483647"},
		{"null object", `{"user":null}`, "user must not be null; it must be an object"},
		{"null string", `{"user":{"username":null}}`, "user.username must not be null; it must be a string"},
		{"null boolean", with(`,"flag":null`), "flag must not be null; it must be true or false"},
		{"null list", with(`,"tags":null`), "tags must not be null; it must be an array"},
		{"null in a list", with(`,"tags":["a",null]`), "tags[1] must not be null; it must be a string"},
		{"fraction", `{"xp":1.5}`, "xp must be a whole number from 0 to 2147483647"},
		{"fraction of zero", `{"xp":1.0}`, "xp must be a whole number from 0 to 2147483647"},
		{"exponent", `{"xp":1e3}`, "xp must be a whole number from 0 to 2147483647"},
		{"too low", `{"xp":-1}`, "xp must be a whole number from 0 to 2147483647"},
		{"too high", `{"xp":2147483648}`, "xp must be a whole number from 0 to 2147483647"},
		{"beyond 64 bits", `{"xp":99999999999999999999}`, "xp must be a whole number from 0 to 2147483647"},
		{"beyond its type", with(`,"small":2147483648`), "small is too large a number"},
		{"string for integer", `{"xp":"1"}`, "xp must be a whole number from 0 to 2147483647, not a string"},
		{"boolean for integer", `{"xp":true}`, "xp must be a whole number from 0 to 2147483647, not a boolean"},
		{"number for string", `{"user":{"username":1}}`, "user.username must be a string, not a number"},
		{"number for boolean", with(`,"flag":1`), "flag must be true or false, not a number"},
		{"too many in a list", with(`,"tags":["a","b","c","d"]`), "tags must have at most 3 items"},
		{"too many, and what follows is not read", with(`,"tags":["a","b","c",1,null,"` + "\\x" + `"`), "tags must have at most 3 items"},
		{"as many as may be, cut off", strings.TrimSuffix(with(`,"tags":["a","b","c"`), "}"), "The body is not complete JSON: it ends too early"},
		{"too few in a list", with(`,"friends":[]`), "friends must have 1 to 2 items"},
		{"too many in a list that must have some", with(`,"friends":[` + friend + `,` + friend + `,` + friend + `]`), "friends must have 1 to 2 items"},
		{"object for list", with(`,"tags":{}`), "tags must be an array, not an object"},
		{"factor too high", with(`,"factor":5.1`), "factor must be a number from 0 to 5"},
		{"factor beyond floats", with(`,"factor":1e999`), "factor must be a number from 0 to 5"},
		{"number beyond floats", with(`,"big":1e999`), "big is too large a number"},
		{"NUL", `{"user":{"username":"a\u0000"}}`, "user.username must not contain the character NUL"},
		{"too short", `{"user":{"username":""}}`, "user.username must be a string of 1 to 8 bytes"},
		{"too long in bytes", `{"user":{"username":"ééééé"}}`, "user.username must be a string of 1 to 8 bytes"},
		{"not a time", with(`,"until":"tomorrow"`), "until must be a time in RFC 3339, such as 2026-01-02T15:04:05Z"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := strictjson.Decode([]byte(tc.in), new(body))
			if err == nil {
				t.Fatalf("%s is accepted, want %q", tc.in, tc.want)
			}
			if f := fault.From(err); f.Code != fault.Invalid || f.Message != tc.want {
				t.Errorf("%s gives\n%q (code %d)\nwant %q", tc.in, f.Message, f.Code, tc.want)
			}
		})
	}
}

func TestAKeptValueIsDecodedLater(t *testing.T) {
	type step struct {
		Increment strictjson.Optional[int64] `json:"increment" bounds:"1..2147483647"`
	}
	type kept struct {
		XP strictjson.Value `json:"xp" bounds:"0..2147483647"`
	}
	for in, want := range map[string]string{
		`{"increment":1}`:               "",
		`{"increment":0}`:               "xp.increment must be a whole number from 1 to 2147483647",
		`{"Increment":1}`:               `"Increment" is not a property of xp; write it as "increment"`,
		`{"increment":1,"increment":1}`: "xp.increment is given twice",
		`null`:                          "xp must not be null; it must be an object",
	} {
		var k kept
		err := strictjson.Decode([]byte(`{"xp":`+in+`}`), &k)
		if err == nil {
			err = k.XP.Decode(new(step))
		}
		if want == "" && err != nil || want != "" && (!fault.Is(err, fault.Invalid) || fault.From(err).Message != want) {
			t.Errorf("%s gives %v, want %q", in, err, want)
		}
	}
	for in, valid := range map[string]bool{`2147483647`: true, `2147483648`: false, `-1`: false, `1.0`: false, `"1"`: false, `null`: false, `{}`: false} {
		var k kept
		var n int64
		if err := cmp.Or(strictjson.Decode([]byte(`{"xp":`+in+`}`), &k), k.XP.Decode(&n)); valid != (err == nil) || !valid && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is read as %d (%v), want it valid: %v", in, n, err, valid)
		}
	}
}

func TestInvalidTargetsPanic(t *testing.T) {
	type (
		unnamed   struct{ A int }
		badBounds struct {
			A int `json:"a" bounds:"few"`
		}
		badBytes struct {
			A string `json:"a" bytes:"1"`
		}
		unbounded struct {
			A []string `json:"a"`
		}
		ofLists struct {
			A [][]string `json:"a" items:"0..1"`
		}
	)
	for _, into := range []any{body{}, nil, &map[string]int{}, &unnamed{}, &badBounds{}, &badBytes{}, &unbounded{}, &ofLists{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("decoding into %T did not panic", into)
				}
			}()
			_ = strictjson.Decode([]byte(`{"a":[[]]}`), into)
		}()
	}
}

func TestAKeptValueDoesNotShareTheCallersBuffer(t *testing.T) {
	data := []byte(with(`,"raw":[1,2]`))
	var b body
	if err := strictjson.Decode(data, &b); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = ' '
	}
	if raw, _ := b.Raw.Get(); raw.Kind() != '[' || b.User.Username != "x" {
		t.Errorf("reusing the buffer changed the decoded values to %+v and %+v", raw, b.User)
	}
}
