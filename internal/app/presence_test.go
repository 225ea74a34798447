package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var presenceCases = cases{
	"an absent member is on no board":       leftIsOnNoBoard,
	"a member who returns has everything":   backWithEverything,
	"an ignored message brings nobody back": uncountedBringsNobodyBack,
}

func presencePath(g string) string { return "/v2/guilds/" + g + "/presence" }

// setPresence sets users present or absent, and fails unless this many changed and these are missing.
func (s *service) setPresence(key, g string, present bool, changed int, missing []string, users ...string) {
	s.t.Helper()
	got := s.Do("PUT", presencePath(g), key, object{"present": present, "userIds": users}).Want(s.t, 200)
	wantLimits(s.t, got)
	wantJSON(s.t, got, jsonText(s.t, object{"changed": changed, "missing": some(missing)}))
}

// leave makes members absent who are present, and comeBack reverses it.
func (s *service) leave(key, g string, users ...string) {
	s.t.Helper()
	s.setPresence(key, g, false, len(users), nil, users...)
}

func (s *service) comeBack(key, g string, users ...string) {
	s.t.Helper()
	s.setPresence(key, g, true, len(users), nil, users...)
}

// wantLeft fails unless the member is absent: reads, changes and a creation must be refused.
func (s *service) wantLeft(key, g, u string) {
	s.t.Helper()
	for _, got := range []apitest.Response{
		s.Do("GET", memberPath(g, u), key, nil), s.Do("PATCH", memberPath(g, u), key, object{"xp": object{"increment": 1}}),
		s.Do("PATCH", memberPath(g, u), key, object{"xp": 1}, named("left"+u)), s.Do("GET", historyPath(g, u), key, nil),
	} {
		wantFailure(s.t, got, 404)
		if message := got.Message(s.t); !strings.Contains(message, "has left") || !strings.Contains(message, "presence") {
			s.t.Errorf("the refusal's message is %q, want \"has left\" and \"presence\" in it", message)
		}
	}
	s.Do("GET", memberPath(g, u)+"/card.svg", "", nil).Want(s.t, 404)
	made := s.Do("POST", memberPath(g, u), key, object{"xp": 1, "user": gopher})
	wantFailure(s.t, made, 409)
	if message := made.Message(s.t); !strings.Contains(message, "has left") || !strings.Contains(message, "presence") {
		s.t.Errorf("POST on an absent member says %q, want \"has left\" and \"presence\" in it", message)
	}
}

func leftIsOnNoBoard(t *testing.T, s *service) {
	g, nobody := s.guild(nil), newID()
	key := s.key(g)
	users := newUsers(3)
	for i, u := range users {
		s.create(key, g, u, 300-100*i)
	}
	s.setPresence(key, g, false, 2, []string{nobody}, users[0], nobody, users[2])
	if got := s.board(key, g, 1); !slices.Equal(got.order(), users[1:2]) || got.Levels[0].Rank != 1 {
		t.Errorf("the board is %+v, want only %s with rank 1", got.Levels, users[1])
	}
	if rank := s.member(key, g, users[1]).Level.Rank; rank != 1 {
		t.Errorf("the member who stayed has rank %d, want 1", rank)
	}
	etag := s.etag(key, g, 1)
	s.wantLeft(key, g, users[0])
	s.setPresence(key, g, false, 0, nil, users[0], users[2])
	s.setPresence(key, g, true, 0, []string{nobody}, users[1], nobody)
	if now := s.etag(key, g, 1); now != etag {
		t.Errorf("calls that changed nothing changed the ETag from %s to %s", etag, now)
	}
}

func backWithEverything(t *testing.T, s *service) {
	g, u, other := s.guild(exactly(20, object{"xpGainInterval": 86_400_000})), newID(), newID()
	key := s.key(g)
	s.create(key, g, other, 10)
	s.create(key, g, u, 500)
	s.award(key, g, message(u, nil), message(u, nil))
	before := flat(s.member(key, g, u))
	s.leave(key, g, u)
	s.wantLeft(key, g, u)
	if rank := s.member(key, g, other).Level.Rank; rank != 1 {
		t.Errorf("the other member has rank %d, want 1", rank)
	}
	s.comeBack(key, g, u)
	after := flat(s.member(key, g, u))
	after[0] = before[0] // lastUpdated may change
	if fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the member came back as %v, want %v", after, before)
	}
	wantGained(t, s.award(key, g, message(u, nil)), 0) // its cooldown continued
	s.patch(key, g, u, object{"increment": 1})
}

func uncountedBringsNobodyBack(t *testing.T, s *service) {
	ignored, nobody := newID(), newID()
	g := s.guild(exactly(20, object{"ignoredChannelIds": []string{chanA}, "ignoredRoleIds": []string{roleE}, "ignoredUserIds": []string{ignored}}))
	key := s.key(g)
	u := newID()
	s.put(key, g, "set", given(u, 500, count(4)), given(ignored, 100, nil))
	s.leave(key, g, u, ignored)
	etag := s.etag(key, g, 1)
	got := s.award(key, g, message(u, object{"channelId": chanA}), message(u, object{"parentChannelId": chanA}), message(u, object{"roleIds": []string{roleE}, "user": gopher}),
		message(ignored, nil), message(nobody, object{"channelId": chanA}))
	there, none := result{u, 0, 500, 3, 4, false, []string{}, []string{}}, result{nobody, 0, 0, 0, 0, false, []string{}, []string{}}
	want := []result{there, there, there, {ignored, 0, 100, 1, 0, false, []string{}, []string{}}, none}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("the results of ignored messages are\n%+v\nwant\n%+v", got, want)
	}
	if now := s.etag(key, g, 1); now != etag {
		t.Errorf("ignored messages changed the ETag from %s to %s", etag, now)
	}
	s.wantLeft(key, g, u)
	s.wantLeft(key, g, ignored)
	s.Do("GET", memberPath(g, nobody), key, nil).Want(t, 404)
	// One counted message among ignored ones brings the member back, and only that message is counted.
	got = s.award(key, g, message(u, object{"channelId": chanA}), message(u, nil), message(u, object{"channelId": chanA}))
	wantGained(t, got, 0, 20, 0)
	if m := s.member(key, g, u).Level; m.XP != 520 || m.MessageCount != 5 {
		t.Errorf("the member is %+v, want 520 XP and 5 messages", m)
	}
}
