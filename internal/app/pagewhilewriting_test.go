package app_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"levelboard/internal/testing/apitest"
)

// Readers ask for a page, with an ETag and without, while its members gain XP. What a reader knows to be answered before it
// asks, it finds on the page. Every request has an id of its own.
func pageWhileWriting(t *testing.T, s *service) {
	const members, writers, readers, each = 4, 4, 8, 40
	g := s.guild(nil)
	key := s.key(g)
	var users [members]string
	var known [members]atomic.Int64 // XP that was answered; a member has one writer
	for i := range users {
		users[i] = newID()
		s.create(key, g, users[i], 0)
	}
	var ids sync.Map
	once := func(got apitest.Response) error {
		id := got.Header.Get("X-Request-Id")
		if _, twice := ids.LoadOrStore(id, true); twice || len(id) != 26 {
			return fmt.Errorf("a request has the id %q, another one had it: %v", id, twice)
		}
		return nil
	}
	write := func(i int) error {
		for n := range 3 * each {
			got, err := s.quick("PATCH", memberPath(g, users[i]), key, `{"xp":{"increment":1}}`)
			if err == nil && got.Status != 200 {
				err = fmt.Errorf("increment: status %d", got.Status)
			}
			if err == nil {
				err = once(got)
			}
			if err != nil {
				return err
			}
			known[i].Store(int64(n + 1))
		}
		return nil
	}
	read := func() error {
		var etag string
		var page board
		for n := range each {
			var least [members]int64
			for i := range least {
				least[i] = known[i].Load()
			}
			var options []apitest.Option
			if etag != "" && n%2 == 1 {
				options = append(options, apitest.Header("If-None-Match", etag))
			}
			got, err := s.quick("GET", boardPath(g, 1), key, "", options...)
			if err == nil {
				err = once(got)
			}
			if err == nil && got.Status == 200 {
				page, etag = board{}, got.Header.Get("ETag")
				err = json.Unmarshal(got.Body, &page)
			} else if err == nil && (got.Status != 304 || len(options) == 0) {
				err = fmt.Errorf("page: status %d", got.Status)
			}
			if err != nil {
				return err
			}
			for i, u := range users {
				for _, row := range page.Levels {
					if row.UserID == u && int64(row.XP) < least[i] {
						return fmt.Errorf("status %d: a member has %d XP on the page, and had %d before it was asked for", got.Status, row.XP, least[i])
					}
				}
			}
		}
		return nil
	}
	together(t, writers+readers, writers+readers, func(i int) error {
		if i < writers {
			return write(i)
		}
		return read()
	})
	for i, u := range users {
		if xp := s.member(key, g, u).Level.XP; int64(xp) != known[i].Load() {
			t.Errorf("member %d has %d XP, want %d", i, xp, known[i].Load())
		}
	}
}
