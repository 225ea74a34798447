package app_test

import (
	"fmt"
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
		t.Errorf("once it is enabled again: %+v", got)
	}
}

func oneCallIsOneRequest(t *testing.T, s *service) {
	g := s.guild(nil)
	_, key := s.mint(object{"guildIds": []string{g}, "rateLimit": 1}) // one more a minute: slow calls see no other
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

func largeCalls(t *testing.T, s *service) {
	g := s.guild(exactly(20, nil))
	key := s.key(g)
	one := newID()
	var ofOne, ofMany []object
	for _, u := range newUsers(1000) {
		ofOne = append(ofOne, message(one, nil))
		ofMany = append(ofMany, message(u, nil))
	}
	got := s.award(key, g, ofOne...)
	if first, last := got[0], got[999]; first.Gained != 20 || last.Gained != 0 || last.XP != 20 || last.MessageCount != 1000 {
		t.Errorf("1000 messages of one member: %+v ... %+v", first, last)
	}
	for i, r := range s.award(key, g, ofMany...) {
		if r.Gained != 20 || r.UserID != ofMany[i]["userId"] {
			t.Fatalf("1000 members: result %d is %+v", i, r)
		}
	}
	if n := len(s.board(key, g, 11).Levels); n != 1 {
		t.Errorf("page 11 has %d members, want 1", n)
	}

	// Bodies of 1 MiB and one byte less, filled by user data and roles.
	for _, size := range []int{1<<20 - 1, 1 << 20} {
		var body strings.Builder
		body.WriteString(`{"messages":[`)
		users := newUsers(1000)
		for i, u := range users {
			fmt.Fprintf(&body, `{"userId":%q,"channelId":%q,"roleIds":[%q%s],"user":{"avatar":null,"discriminator":"0","username":%q}},`,
				u, chanA, roleA, strings.Repeat(`,"`+roleB+`"`, 28), strings.Repeat("n", 200+i%50))
		}
		text := strings.TrimSuffix(body.String(), ",") + "]}"
		text += strings.Repeat(" ", size-len(text))
		last := results(t, s.Do("POST", messagesPath(g), key, text))[999]
		if last.UserID != users[999] || last.Gained != 20 {
			t.Errorf("%d bytes: %+v", size, last)
		}
		if name := s.member(key, g, users[999]).User["username"].(string); len(name) != 249 {
			t.Errorf("%d bytes: a name of %d", size, len(name))
		}
	}
}

func optionalProperties(t *testing.T, s *service) {
	g := s.guild(exactly(20, nil))
	key := s.key(g)
	send := func(body string) []result {
		t.Helper()
		return results(t, s.Do("POST", messagesPath(g), key, body))
	}
	for _, rest := range []string{
		``, `,"parentChannelId":null`, `,"parentChannelId":"` + chanA + `"`, `,"roleIds":[]`, `,"roleIds":["` + roleA + `","` + roleA + `"]`,
		`,"roleIds":["` + roleA + `"` + strings.Repeat(`,"`+roleB+`"`, 249) + `]`, `,"user":` + goodUser, ` , "user" : { "username" : "\u00e9\"" , "discriminator":"" ,"avatar":null, "globalName":null }`,
		`,"user":{"avatar":null,"discriminator":"0","username":"` + strings.Repeat(`é`, 128) + `"}`,
	} {
		if got := send(`{"messages":[{"userId":"` + newID() + `","channelId":"` + chanD + `"` + rest + `}]}`); len(got) != 1 || got[0].Gained != 20 {
			t.Errorf("with %s: %+v", rest, got)
		}
	}
	u := newID()
	// Escapes anywhere are the same as what they stand for.
	send(`{"\u006dessages":[{"user\u0049d":"\u00` + fmt.Sprintf("%02x", u[0]) + u[1:] + `","channelId":"` + chanD + `"}]}`)
	s.member(key, g, u)
}

func settingsCountFromTheNextCall(t *testing.T, s *service) {
	g := s.guild(exactly(20, nil))
	key := s.key(g)
	wantGained(t, s.award(key, g, message(newID(), nil)), 20)
	s.admin("PUT", "/guilds/"+g, settings(exactly(30, object{"ignoredRoleIds": []string{roleA}}))).Want(t, 200)
	wantGained(t, s.award(key, g, message(newID(), nil), message(newID(), object{"roleIds": []string{roleA}})), 30, 0)
}

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
