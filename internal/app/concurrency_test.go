package app_test

import (
	"fmt"
	"sync"
	"testing"

	"levelboard/internal/testing/apitest"
)

var concurrentCases = cases{
	"an ETag is one page's": etagIsOnePages,
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
