package app_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"

	"levelboard/internal/testing/testenv"
)

// opens reports whether the key may open one more stream, and closes that stream.
func (s *service) opens(key, g string) bool {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.app.Addr()+eventsPath(g), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("X-Api-Key", key)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode == 200
}

// An owner who opens as many streams as allowed leaves streams for other owners.
func TestAnOwnersStreamsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	const most = 250 // as docs/events.md says
	s := start(t, append(onServers(t), "LEVELBOARD_RATE_LIMIT_KEY=0", "LEVELBOARD_RATE_LIMIT_IDENTITY=0")...)
	g, greedy := s.guild(nil), newID()
	_, one := s.mint(object{"ownerId": greedy, "guildIds": []string{g}})
	_, two := s.mint(object{"ownerId": greedy, "guildIds": []string{g}})
	var open []*follower
	for n := range most {
		open = append(open, s.follow([]string{one, two}[n%2], g, ""))
	}
	for _, key := range []string{one, two} {
		got := s.bad("GET", eventsPath(g), key, nil)
		wantFailure(t, got, 429)
		if wait, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || wait < 1 || got.Header.Get("X-RateLimit-Limit") == "" {
			t.Errorf("the refusal's headers are %v, want a Retry-After of 1 or more and X-RateLimit-Limit", got.Header)
		}
	}
	// Only streams are refused, and only to that owner.
	s.Do("HEAD", eventsPath(g), one, nil).Want(t, 200)
	s.create(one, g, newID(), 500)
	other := s.follow(s.key(g), g, "")
	s.create(two, g, newID(), 500)
	for _, f := range []*follower{open[0], open[most-1], other} {
		if up := f.levelUp(); up.XP != 500 {
			t.Errorf("the stream of another owner sent %+v, want 500 XP", up)
		}
	}
	open[0].cancel()
	testenv.Wait(t, "the place of one that was closed is free", func() bool { return s.opens(two, g) })
}
