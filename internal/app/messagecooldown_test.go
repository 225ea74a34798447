package app_test

import (
	"strings"
	"testing"
)

// It runs alone: the metrics are of the whole process.
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
		t.Errorf("no %s in /metrics", route)
	}
}
