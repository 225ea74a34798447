package web_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"levelboard/internal/testing/testenv"
)

// watches reports with what status a page is watched from that address, until the test ends.
func (b *browser) watches(from, path string) (status int, header http.Header, leave func()) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	b.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.site.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("X-Forwarded-For", from) // the router of these tests believes it
	answer, err := b.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = answer.Body.Close() })
	return answer.StatusCode, answer.Header, cancel
}

// One address cannot take all places of those who watch; an IPv6 network counts as one.
func TestAnAddressWatchesAFewPages(t *testing.T) {
	const most = 20
	s := newSite(t, options{})
	s.fill(members(3))
	b := s.browser()
	var leaves []func()
	for n := range most {
		status, _, leave := b.watches(fmt.Sprintf("2001:db8::%x", n+1), "/leaderboard/gophers/live")
		if status != 200 {
			t.Fatalf("number %d is refused with %d", n+1, status)
		}
		leaves = append(leaves, leave)
	}
	status, header, _ := b.watches("2001:db8::ffff", "/leaderboard/gophers/live")
	if status != 429 || header.Get("Retry-After") == "" {
		t.Errorf("one too many is %d, %v", status, header)
	}
	// They are shown the page all the same, and others watch on.
	b.get("/leaderboard/gophers/rows", "X-Forwarded-For", "2001:db8::ffff").want(200, `"total":3`)
	for _, from := range []string{"2001:db8:0:1::1", "192.0.2.1"} {
		if status, _, _ := b.watches(from, "/leaderboard/gophers/live"); status != 200 {
			t.Errorf("from %s it is %d", from, status)
		}
	}
	leaves[0]()
	testenv.Wait(t, "the place of one who left is free", func() bool {
		status, _, _ := b.watches("2001:db8::1", "/leaderboard/gophers/live")
		return status == 200
	})
}

func TestAPagePastTheEndIsTheLast(t *testing.T) {
	s := newSite(t, options{})
	s.fill(members(150))
	last := s.browser().watch("/leaderboard/gophers/live?page=999")
	if got := last.until(func(rowsBody) bool { return true }); got.Page != 2 || len(got.Order) != 50 {
		t.Errorf("past the end is page %d with %d members", got.Page, len(got.Order))
	}
}
