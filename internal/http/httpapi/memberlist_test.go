package httpapi

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
)

// FuzzMembersQuery checks that a query is refused, or asks for one thing, within its bounds, as written.
func FuzzMembersQuery(f *testing.F) {
	for _, seed := range []string{
		"ids=100000000000000002,100000000000000003", "ids=100000000000000002,100000000000000002", "ids=1,", "ids=&search=", "search=Ada&limit=20", "search=%C3%89&limit=0",
		"ids=100000000000000002&limit=5", "limit=5", "search=" + strings.Repeat("a", 65), "ids=" + strings.Repeat("100000000000000002,", 101),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		r := &request{query: values}
		w := r.wantedMembers()
		if r.err != nil {
			if !fault.Is(r.err, fault.Invalid) {
				t.Fatalf("%q gives %v, want fault.Invalid", text, r.err)
			}
			return
		}
		byName := values.Has("search")
		if byName == values.Has("ids") || byName == (w.users != nil) || !byName && values.Has("limit") || w.limit < 1 || w.limit > leaderboard.MaxFound {
			t.Fatalf("%q is read as %+v, want a search or ids within the bounds", text, w)
		}
		if byName {
			return
		}
		texts := make([]string, len(w.users))
		for i, user := range w.users {
			if texts[i] = string(user); !id.Valid(texts[i]) || slices.Contains(w.users[:i], user) {
				t.Fatalf("%q is read with the invalid or repeated id %s at %d", text, user, i)
			}
		}
		if len(texts) > 100 || strings.Join(texts, ",") != values.Get("ids") {
			t.Fatalf("%q is read as the ids %v, want at most 100 and all that it names", text, texts)
		}
	})
}
