package etag_test

import (
	"testing"

	"levelboard/internal/http/etag"
)

func TestMatch(t *testing.T) {
	for _, test := range []struct {
		ifNoneMatch []string
		same        string
		ok          bool
	}{
		{nil, "", false},
		{[]string{""}, "", false},
		{[]string{`"a"`}, `"a"`, true},
		{[]string{`W/"a"`}, `W/"a"`, true},
		{[]string{`"b", W/"a" , "a"`}, `W/"a"`, true},
		{[]string{`"b"`, `"a"`}, `"a"`, true},
		{[]string{"*"}, `"a"`, true},
		{[]string{`"b"`, `a`, `"aa"`, `w/"a"`}, "", false},
	} {
		if same, ok := etag.Match(test.ifNoneMatch, `"a"`); same != test.same || ok != test.ok {
			t.Errorf("%q: %q, %v, want %q, %v", test.ifNoneMatch, same, ok, test.same, test.ok)
		}
	}
}
