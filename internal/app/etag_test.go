package app_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"levelboard/internal/testing/apitest"
)

var etagCases = cases{
	"an ETag is of one page only":  etagIsOnePages,
	"If-None-Match gets a 304":     notModified,
	"each change changes the ETag": changesChangeETag,
	"pages and callers differ":     etagsDiffer,
	"a HEAD can be conditional":    conditionalHead,
}

func (s *service) etag(key, entry string, page int) string {
	s.t.Helper()
	etag := s.Do("GET", boardPath(entry, page), key, nil).Want(s.t, 200).Header.Get("ETag")
	if quoted := strings.TrimPrefix(etag, "W/"); len(quoted) < 3 || quoted[0] != '"' || quoted[len(quoted)-1] != '"' {
		s.t.Fatalf("the ETag is %q, want a quoted text", etag)
	}
	return etag
}

func notModified(t *testing.T, s *service) {
	g := s.guild(nil)
	s.create(s.key(g), g, newID(), 5)
	etag := s.etag("", g, 1)
	for _, match := range []string{etag, "W/" + etag, `"x", ` + etag, `"x",W/"y",` + etag + ` , "z"`, "*"} {
		got := s.Do("GET", boardPath(g, 1), "", nil, apitest.Header("If-None-Match", match)).Want(t, 304)
		wantNoBody(t, got)
		wantLimits(t, got)
		if now := strings.TrimPrefix(got.Header.Get("ETag"), "W/"); now != etag {
			t.Errorf("without a change the ETag became %s, want %s", now, etag)
		}
		wantHeader(t, got, "Cache-Control", s.Do("GET", boardPath(g, 1), "", nil).Header.Get("Cache-Control"))
	}
	lines := func(r *http.Request) { r.Header["If-None-Match"] = []string{`"x"`, etag} }
	s.Do("GET", boardPath(g, 1), "", nil, lines).Want(t, 304)
	for _, other := range []string{`"x"`, etag[1 : len(etag)-1], `"` + etag, ``} {
		got := s.Do("GET", boardPath(g, 1), "", nil, apitest.Header("If-None-Match", other)).Want(t, 200)
		wantHeader(t, got, "ETag", etag)
	}
}

func conditionalHead(t *testing.T, s *service) {
	g := s.guild(nil)
	etag := s.etag("", g, 1)
	s.Do("HEAD", boardPath(g, 1), "", nil, apitest.Header("If-None-Match", etag)).Want(t, 304)
	s.Do("HEAD", boardPath(g, 1), "", nil, apitest.Header("If-None-Match", `"x"`)).Want(t, 200)
}

func changesChangeETag(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	seen := map[string]string{s.etag("", g, 1): "the beginning"}
	changed := func(by string) {
		t.Helper()
		etag := s.etag("", g, 1)
		if before, ok := seen[etag]; ok {
			t.Errorf("after %s the ETag is that of %s, want a new one", by, before)
		}
		seen[etag] = by
		// No earlier ETag matches from now on.
		for old := range maps.Keys(seen) {
			want := 200
			if old == etag {
				want = 304
			}
			s.Do("GET", boardPath(g, 1), "", nil, apitest.Header("If-None-Match", old)).Want(t, want)
		}
	}
	s.create(key, g, u, 50)
	changed("create")
	s.patch(key, g, u, object{"increment": 5})
	changed("increment")
	s.patch(key, g, u, object{"decrement": 5})
	changed("decrement, back to the same XP")
	s.patch(key, g, u, 60)
	changed("set")
	s.Do("DELETE", memberPath(g, u), key, nil).Want(t, 204)
	changed("delete, back to the same members")
	s.admin("PUT", "/guilds/"+g, settings(object{"name": "Other"})).Want(t, 200)
	changed("new settings")
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 200)
	changed("the old settings")
	s.admin("DELETE", "/guilds/"+g, nil).Want(t, 204)
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)
	changed("deletion and creation")
}

func etagsDiffer(t *testing.T, s *service) {
	boss := newID()
	g := s.guild(object{"ownerId": boss})
	_, key := s.mint(object{"ownerId": boss})
	etags := []string{s.etag("", g, 1), s.etag("", g, 2), s.etag(key, g, 1), s.etag("", s.guild(nil), 1)}
	slices.Sort(etags)
	if distinct := slices.Compact(slices.Clone(etags)); len(distinct) != 4 {
		t.Errorf("the ETags of 4 different answers are %v, want 4 distinct ones", etags)
	}
}

// While members and settings change, no two different pages ever have the same ETag.
func etagIsOnePages(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	users := s.fill(key, g, 3)
	var mu sync.Mutex
	pages := map[string]string{}
	together(t, 300, 12, func(i int) (err error) {
		var got apitest.Response
		switch {
		case i%10 == 0:
			got, err = s.quick("PUT", "/admin/guilds/"+g, "", jsonText(t, settings(object{"memberCount": i + 1})), apitest.AdminToken(s.token))
		case i%3 == 0:
			got, err = s.quick("PATCH", memberPath(g, users[i%2]), key, `{"xp":{"increment":1}}`)
		default:
			got, err = s.quick("GET", boardPath(g, 1), "", "")
			mu.Lock()
			defer mu.Unlock()
			etag, body := got.Header.Get("ETag"), string(got.Body)
			if before, ok := pages[etag]; ok && before != body && err == nil {
				err = fmt.Errorf("under the ETag %s both\n%s\nand\n%s", etag, before, body)
			}
			pages[etag] = body
		}
		if err == nil && got.Status != 200 {
			err = fmt.Errorf("status %d: %s", got.Status, got.Body)
		}
		return err
	})
	if len(pages) < 3 {
		t.Errorf("only %d pages were seen, want at least 3", len(pages))
	}
}
