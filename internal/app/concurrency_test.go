package app_test

import (
	"fmt"
	"sync"
	"testing"

	"levelboard/internal/testing/apitest"
)

var concurrentCases = cases{
	"changes add up":                    manyClientsAtOnce,
	"one of many creates a member":      oneOfManyCreates,
	"one of many deletes a member":      oneOfManyDeletes,
	"one of many guilds has a vanity":   oneOfManyHasAVanity,
	"one of many creates a guild":       oneOfManyCreatesAGuild,
	"an ETag is one page's":             etagIsOnePages,
	"no page is older than its request": pageWhileWriting,
}

// Every one of 32 clients goes up and down by amounts of its own; what remains is the sum of them.
func manyClientsAtOnce(t *testing.T, s *service) {
	const clients, rounds = 32, 12
	g, shared := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, shared, 1_000_000)
	change := func(op string, amount int) error {
		got, err := s.quick("PATCH", memberPath(g, shared), key, fmt.Sprintf(`{"xp":{%q:%d}}`, op, amount))
		if err == nil && got.Status != 200 {
			err = fmt.Errorf("%s %d: status %d, body %s", op, amount, got.Status, got.Body)
		}
		return err
	}
	want := 1_000_000
	for i := range clients * rounds {
		want += i%7 + 1 - i%5 - 1
	}
	together(t, clients*rounds, clients, func(i int) error {
		if err := change("increment", i%7+1); err != nil {
			return err
		}
		return change("decrement", i%5+1)
	})
	if xp := s.member(key, g, shared).Level.XP; xp != want {
		t.Errorf("it is %d, want %d", xp, want)
	}
}

// statuses sends a request for each i below n, all at once, and counts the answers by status.
func (s *service) statuses(n int, send func(i int) (apitest.Response, error)) map[int]int {
	s.t.Helper()
	var mu sync.Mutex
	counts := map[int]int{}
	together(s.t, n, n, func(i int) error {
		got, err := send(i)
		mu.Lock()
		defer mu.Unlock()
		counts[got.Status]++
		return err
	})
	return counts
}

func wantCounts(t *testing.T, got, want map[int]int) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answers by status are %v, want %v", got, want)
	}
}

func oneOfManyCreates(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	wantCounts(t, s.statuses(16, func(i int) (apitest.Response, error) {
		return s.quick("POST", memberPath(g, u), key, fmt.Sprintf(`{"xp":%d,"user":{"avatar":null,"discriminator":"0","username":"u%d"}}`, i, i))
	}), map[int]int{200: 1, 409: 15})
	// The rest is whole: the XP and the name of the same request.
	if m := s.member(key, g, u); m.User["username"] != fmt.Sprintf("u%d", m.Level.XP) {
		t.Errorf("it is %v", flat(m))
	}
}

func oneOfManyDeletes(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	wantCounts(t, s.statuses(16, func(int) (apitest.Response, error) {
		return s.quick("DELETE", memberPath(g, u), key, "")
	}), map[int]int{204: 1, 404: 15})
}

func oneOfManyHasAVanity(t *testing.T, s *service) {
	vanity := "race" + newID()[10:]
	guilds := make([]string, 8)
	for i := range guilds {
		guilds[i] = newID()
	}
	wantCounts(t, s.statuses(8, func(i int) (apitest.Response, error) {
		return s.quick("PUT", "/admin/guilds/"+guilds[i], "", jsonText(t, settings(object{"vanity": vanity})), apitest.AdminToken(s.token))
	}), map[int]int{201: 1, 409: 7})
	s.board("", vanity, 1)
}

func oneOfManyCreatesAGuild(t *testing.T, s *service) {
	g := newID()
	wantCounts(t, s.statuses(8, func(i int) (apitest.Response, error) {
		return s.quick("PUT", "/admin/guilds/"+g, "", jsonText(t, settings(object{"memberCount": i + 1})), apitest.AdminToken(s.token))
	}), map[int]int{201: 1, 200: 7})
	s.create(s.key(g), g, newID(), 1)
}

// While members and settings change, nobody is ever given two pages under one ETag.
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
		t.Errorf("only %d pages were seen", len(pages))
	}
}
