package strictjson_test

import (
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/platform/strictjson"
)

func TestDecodeOverCollectsFaultsAndReadsTheRest(t *testing.T) {
	b := body{XP: 7}
	wrong := strictjson.DecodeOver([]byte(`{"factor":9,"nope":{"a":[1]},"friends":[{"avatar":null,"username":"y"},{"username":"","x":1}],"flag":true,"tags":["a",1]}`), &b)
	var got []string
	for _, f := range wrong.Faults {
		got = append(got, f.Message)
	}
	want := []string{
		"factor must be a number from 0 to 5", `"nope" is not a property of the body`, "friends[1].username must be a string of 1 to 8 bytes",
		`"x" is not a property of friends[1]`, "friends[1].avatar is required", "tags[1] must be a string, not a number",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the faults are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if friends, _ := b.Friends.Get(); b.XP != 7 || !b.Flag.Or(false) || len(friends) != 2 || friends[0].Username != "y" {
		t.Errorf("the valid properties are read as %+v", b)
	}
	if !wrong.Has("friends") || !wrong.Has("friends[1]") || wrong.Has("friends[0]") || wrong.Has("friend") {
		t.Error("Has does not find exactly the paths with faults")
	}
}

func TestDecodeOverStopsAtInvalidJSON(t *testing.T) {
	for in, want := range map[string]string{
		``: "The body is empty; send a JSON value", `[]`: "The body must be an object, not an array", `{"factor":9,"factor":1}`: "factor must be a number from 0 to 5",
		`{"tags":["a",`: "The body is not complete JSON: it ends too early", `{}{}`: "The body must be one JSON value with nothing after it",
	} {
		wrong := strictjson.DecodeOver([]byte(in), &body{})
		if err := wrong.Err(); err == nil || fault.From(err).Message != want {
			t.Errorf("%s gives %v, want %s", in, err, want)
		}
	}
}

func TestDecodeOverIsBounded(t *testing.T) {
	wrong := strictjson.DecodeOver([]byte(`{"x":1`+strings.Join(unknown(200), "")+`}`), &body{})
	if len(wrong.Faults) != fault.MaxListed || wrong.Len() != 201 {
		t.Errorf("%d faults are listed and %d more counted, want %d of 201", len(wrong.Faults), wrong.More, fault.MaxListed)
	}
}

func unknown(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = `,"y` + strings.Repeat("y", i) + `":1`
	}
	return list
}
