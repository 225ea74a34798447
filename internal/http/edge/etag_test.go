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
			t.Errorf("If-None-Match %q matches %q, %v, want %q, %v", test.ifNoneMatch, same, ok, test.same, test.ok)
		}
	}
}

// An ETag is a quoted text, equal for equal states or bodies only.
func TestETags(t *testing.T) {
	if got := edge.ETag("page", 255, 0, -1); got != `"page-ff-0--1"` {
		t.Errorf("the ETag of a state is %s, want \"page-ff-0--1\"", got)
	}
	for _, tag := range []string{`"a"`, `W/"a"`} {
		if weak := edge.WeakETag(tag); weak != `W/"a"` {
			t.Errorf("the weak form of %s is %s, want W/\"a\"", tag, weak)
		}
	}
	one, other := edge.BodyETag([]byte("one")), edge.BodyETag([]byte("other"))
	if one == other || one != edge.BodyETag([]byte("one")) || len(one) != 26 || one[0] != '"' || one[25] != '"' {
		t.Errorf("the ETags of two bodies are %s and %s, want different ones of 26 characters", one, other)
	}
}
