package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"levelboard/internal/testing/apitest"
)

// pagesOfOthersAreFresh changes a member through each replica and reads pages on the other two. A page must contain each change
// that was answered before the page was requested.
func pagesOfOthersAreFresh(t *testing.T, three trio) {
	const each = 60
	g := three[0].guild(nil)
	key := three[0].key(g)
	var users [3]string
	var known [3]atomic.Int64
	for i := range users {
		users[i] = newID()
		three[i].create(key, g, users[i], 0)
	}
	write := func(i int) error {
		for n := range 2 * each {
			got, err := three[i].quick("PATCH", memberPath(g, users[i]), key, `{"xp":{"increment":1}}`)
			if err == nil && got.Status != 200 {
				err = fmt.Errorf("increment: status %d, want 200", got.Status)
			}
			if err != nil {
				return err
			}
			known[i].Store(int64(n + 1))
		}
		return nil
	}
	read := func(i int) error {
		etag, shown := "", board{}
		for n := range each {
			other := (i + 1 + n%2) % 3
			least := known[i].Load()
			got, err := three[other].quick("GET", boardPath(g, 1), key, "", apitest.Header("If-None-Match", etag))
			if err == nil && got.Status == 200 {
				etag, shown = got.Header.Get("ETag"), board{}
				err = json.Unmarshal(got.Body, &shown)
			} else if err == nil && got.Status != 304 {
				err = fmt.Errorf("page: status %d, want 200 or 304", got.Status)
			}
			if err != nil {
				return err
			}
			for _, row := range shown.Levels {
				if row.UserID == users[i] && int64(row.XP) < least {
					return fmt.Errorf("status %d: replica %d shows %d XP, though replica %d had answered %d before", got.Status, other, row.XP, i, least)
				}
			}
		}
		return nil
	}
	together(t, 9, 9, func(i int) error {
		if i < 3 {
			return write(i)
		}
		return read(i % 3)
	})
}

func levelUpsEverywhere(t *testing.T, three trio) {
	g := three[0].guild(nil)
	key := three[0].key(g)
	var streams []*follower
	for _, s := range three {
		streams = append(streams, s.follow(key, g, ""))
	}
	for _, s := range three {
		u := newID()
		s.create(key, g, u, 500)
		for i, f := range streams {
			if up := f.levelUp(); up.UserID != u || up.XP != 500 {
				t.Errorf("the stream of replica %d sent %+v, want the level-up of %s to 500 XP", i, up, u)
			}
		}
	}
}

// streamsGoOnElsewhere disconnects a client again and again while members gain levels through all replicas. The client resumes on the
// next replica and gets each level-up once and in order.
func streamsGoOnElsewhere(t *testing.T, three trio) {
	const steps = 40
	g, u := three[0].guild(nil), newID()
	key := three[0].key(g)
	f := three[0].follow(key, g, "")
	failed := make(chan error, 1)
	go func() {
		_, err := three[0].quick("POST", memberPath(g, u), key, `{"xp":0,"user":{"avatar":null,"discriminator":"0","username":"a"}}`)
		for i := 1; i <= steps && err == nil; i++ {
			_, err = three[i%3].quick("PATCH", memberPath(g, u), key, fmt.Sprintf(`{"xp":%d}`, 150-100*i+50*i*i))
		}
		failed <- err
	}()
	for n := 1; n <= steps; n++ {
		if n%5 == 0 {
			f.cancel()
			f = three[n/5%3].follow(key, g, f.last)
		}
		if up := f.levelUp(); up.Level != n || up.PreviousLevel != n-1 {
			t.Fatalf("after level %d came %+v, want level %d", n-1, up, n)
		}
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func openPageShowsOthers(t *testing.T, three trio) {
	g := three[0].guild(nil)
	key := three[0].key(g)
	three[0].create(key, g, newID(), 100)
	stream, lines := openPage(t, three[0].app.URL()+"/leaderboard/"+g)
	defer stream.Close()
	for i, s := range three {
		u := newID()
		s.create(key, g, u, 200+i)
		for shown := false; !shown; {
			if !lines.Scan() {
				t.Fatalf("the page's stream ended before it showed the change on replica %d (%v)", i, lines.Err())
			}
			shown = strings.Contains(lines.Text(), `"order":["m`+u)
		}
	}
}
