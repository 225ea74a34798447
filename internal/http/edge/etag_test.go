package edge_test

import (
	"testing"

	"levelboard/internal/http/edge"
)

func TestETagsMatch(t *testing.T) {
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
		if same, ok := edge.MatchETag(test.ifNoneMatch, `"a"`); same != test.same || ok != test.ok {
			t.Errorf("%q: %q, %v, want %q, %v", test.ifNoneMatch, same, ok, test.same, test.ok)
		}
	}
}

// A tag is a quoted text that says the same of the same and something else of everything else.
func TestETags(t *testing.T) {
	if got := edge.ETag("page", 255, 0, -1); got != `"page-ff-0--1"` {
		t.Errorf("the tag of a state is %s", got)
	}
	for _, tag := range []string{`"a"`, `W/"a"`} {
		if weak := edge.WeakETag(tag); weak != `W/"a"` {
			t.Errorf("%s is %s when it is weak", tag, weak)
		}
	}
	one, other := edge.BodyETag([]byte("one")), edge.BodyETag([]byte("other"))
	if one == other || one != edge.BodyETag([]byte("one")) || len(one) != 26 || one[0] != '"' || one[25] != '"' {
		t.Errorf("the tags of two bodies are %s and %s", one, other)
	}
}
