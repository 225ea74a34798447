package app_test

import (
	"slices"
	"strings"
	"testing"
)

func whoMaySendMessages(t *testing.T, s *service) {
	g, other := s.guild(exactly(20, nil)), s.guild(nil)
	key, elsewhere, reader := s.key(g), s.key(other), s.reader(g)
	u := newID()
	s.create(key, g, u, 5)
	s.admin("PUT", "/guilds/"+g, settings(exactly(20, object{"enabled": false}))).Want(t, 200)
	for _, key := range []string{key, reader, elsewhere} {
		wantFailure(t, s.send(key, g, []object{message(u, nil)}), 404)
	}
	s.patch(key, g, u, object{"increment": 1})
	s.admin("PUT", "/guilds/"+g, settings(exactly(20, nil))).Want(t, 200)
	if got := s.award(key, g, message(u, nil))[0]; got.XP != 26 || got.MessageCount != 1 {
		t.Errorf("once the guild is enabled again the message made %+v, want 26 XP and 1 message", got)
	}
}

func oneCallIsOneRequest(t *testing.T, s *service) {
	g := s.guild(nil)
	_, key := s.mint(object{"guildIds": []string{g}, "rateLimit": 1}) // refills once a minute, so a slow test sees the same
	var messages []object
	for _, u := range newUsers(250) {
		messages = append(messages, message(u, nil))
	}
	wantHeader(t, s.send(key, g, messages).Want(t, 200), "X-Ratelimit-Remaining", "0")
	wantFailure(t, s.send(key, g, messages), 429)
	if got := s.board("", g, 1).Levels[0].MessageCount; got != 1 {
		t.Errorf("%d messages were counted, want 1", got)
	}
}

// largeCalls sends the most messages that a call may have: all of one member, then one of each member in a body of 1 MiB.
func largeCalls(t *testing.T, s *service) {
	g, one := s.guild(exactly(20, nil)), newID()
	key := s.key(g)
	got := s.award(key, g, slices.Repeat([]object{message(one, nil)}, 1000)...)
	if first, last := got[0], got[999]; first.Gained != 20 || last.Gained != 0 || last.XP != 20 || last.MessageCount != 1000 {
		t.Errorf("of 1000 messages of one member the first made %+v and the last %+v, want 20 XP and then no more", first, last)
	}
	users := newUsers(1000)
	var ofMany []object
	for _, u := range users {
		ofMany = append(ofMany, message(u, object{"user": object{"avatar": nil, "discriminator": "0", "username": strings.Repeat("n", 256)}}))
	}
	text := jsonText(t, object{"messages": ofMany})
	for i, r := range results(t, s.Do("POST", messagesPath(g), key, text+strings.Repeat(" ", 1<<20-len(text)))) {
		if r.Gained != 20 || r.UserID != users[i] {
			t.Fatalf("of 1000 members' messages number %d made %+v, want 20 XP of %s", i, r, users[i])
		}
	}
	if n := len(s.board(key, g, 11).Levels); n != 1 {
		t.Errorf("page 11 has %d members, want 1", n)
	}
}

// This test runs alone, because the metrics are of the whole process.
func TestMessagesAreCounted(t *testing.T) {
	s := start(t, onDataDir(t)...)
	g := s.guild(exactly(60, object{"ignoredChannelIds": []string{chanA}}))
	key := s.key(g)
	names := []string{`messages_total{outcome="gained"}`, `messages_total{outcome="cooldown"}`, `messages_total{outcome="nothing"}`, `xp_awarded_total`, `level_ups_total`}
	before := make([]float64, len(names))
	for i, name := range names {
		before[i] = s.metric(name)
	}
	up, full := newID(), newID()
	s.create(key, g, up, 50)
	s.create(key, g, full, 2147483647)
	messages := []object{
		message(up, nil), message(up, nil), message(newID(), nil), message(newID(), object{"channelId": chanA}), message(full, nil), message(full, nil),
	}
	for range 3 { // two of them are replays
		s.send(key, g, messages, named("call")).Want(t, 200)
	}
	wantFailure(t, s.send(s.reader(g), g, messages), 403)
	for i, want := range []float64{2, 1, 3, 120, 1} {
		if n := s.metric(names[i]) - before[i]; n != want {
			t.Errorf("%s went up by %v, want %v", names[i], n, want)
		}
	}
	route := `levelboard_http_request_duration_seconds_count{method="POST",route="/v2/guilds/:guildId/messages",status="200"}`
	if text := string(s.ops("/metrics").Body); !strings.Contains(text, route) {
		t.Errorf("/metrics lacks the route %s", route)
	}
}
