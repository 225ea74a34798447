package app_test

import (
	"fmt"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

type checkpointAnswer struct {
	ID, Name, CreatedAt string
	Members             int64
	Automatic           bool
}

type replacedAnswer struct {
	Members    int64
	Checkpoint checkpointAnswer
}

var checkpointCases = cases{
	"a restore brings back each entry":  restoreMembers,
	"reset":                             resetMembers,
	"a restore sends followers a reset": followersGetReset,
	"refused calls make no checkpoint":  refusedCheckpoints,
}

func (s *service) checkpoint(g, name string) checkpointAnswer {
	s.t.Helper()
	return apitest.JSON[checkpointAnswer](s.t, s.admin("POST", "/guilds/"+g+"/checkpoints", object{"name": name}).Want(s.t, 201))
}

func (s *service) replaced(path string) replacedAnswer {
	s.t.Helper()
	return apitest.JSON[replacedAnswer](s.t, s.admin("POST", path, nil).Want(s.t, 200))
}

func restoreMembers(t *testing.T, s *service) {
	g := s.guild(object{"periods": []string{"week"}})
	key := s.key(g)
	users := newUsers(3)
	for i, u := range users {
		s.create(key, g, u, 100*(i+1))
	}
	s.Do("PUT", "/v2/guilds/"+g+"/presence", key, object{"present": false, "userIds": users[:1]}).Want(t, 200)
	before := s.board(key, g, 1)
	made := s.checkpoint(g, "before the contest")
	if made.Members != 3 || made.Automatic {
		t.Errorf("the new checkpoint is %+v, want 3 members and not automatic", made)
	}
	s.patch(key, g, users[1], object{"increment": 5000})
	s.Do("DELETE", memberPath(g, users[2]), key, nil).Want(t, 204)
	s.create(key, g, newID(), 7)

	done := s.replaced("/guilds/" + g + "/checkpoints/" + made.ID + "/restore")
	if done.Members != 3 || done.Checkpoint.Members != 3 || !done.Checkpoint.Automatic {
		t.Errorf("the restore answers %+v, want 3 members and an automatic checkpoint of 3", done)
	}
	if after := s.board(key, g, 1); fmt.Sprint(after.Levels) != fmt.Sprint(before.Levels) {
		t.Errorf("the restored board is\n%+v, want\n%+v", after.Levels, before.Levels)
	}
	s.Do("PUT", "/v2/guilds/"+g+"/presence", key, object{"present": true, "userIds": users[:1]}).Want(t, 200)
	if m := s.member(key, g, users[0]); m.Level.XP != 100 {
		t.Errorf("a member who was absent came back as %+v, want 100 XP", m)
	}
	// The checkpoint that the restore made brings back the board from before it.
	s.replaced("/guilds/" + g + "/checkpoints/" + done.Checkpoint.ID + "/restore")
	if m := s.member(key, g, users[1]); m.Level.XP != 5200 {
		t.Errorf("after the restore was undone the member is %+v, want 5200 XP", m)
	}
	if all := s.checkpoints(g); len(all) != 3 || all[2].ID != made.ID {
		t.Errorf("the checkpoints are %+v, want 3 with %s as the oldest", all, made.ID)
	}
	s.admin("DELETE", "/guilds/"+g+"/checkpoints/"+made.ID, nil).Want(t, 204)
	wantFailure(t, s.admin("DELETE", "/guilds/"+g+"/checkpoints/"+made.ID, nil), 404)
}

func resetMembers(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 500)
	done := s.replaced("/guilds/" + g + "/reset")
	if done.Members != 0 || done.Checkpoint.Members != 1 {
		t.Errorf("the reset answers %+v, want 0 members and a checkpoint of 1", done)
	}
	if got := s.board(key, g, 1); len(got.Levels) != 0 {
		t.Errorf("after a reset the board is %+v, want no rows", got.Levels)
	}
	wantFailure(t, s.Do("GET", memberPath(g, u), key, nil), 404)
	s.create(key, g, u, 1)
	if again, err := s.quick("POST", "/admin/guilds/"+g+"/reset", "", "{}", apitest.AdminToken(s.token)); err != nil || again.Status != 200 {
		t.Errorf("a reset with an empty object is %d %s, %v, want 200", again.Status, again.Body, err)
	}
}

// followersGetReset follows a guild while its settings change and its members are replaced.
func followersGetReset(t *testing.T, s *service) {
	g := s.guild(nil)
	key := s.key(g)
	s.create(key, g, newID(), 100)
	f := s.follow(key, g, "")
	s.admin("PUT", "/guilds/"+g, settings(object{"curve": "default", "xpPerMessageMin": 16})).Want(t, 200) // no level and no role changes
	s.admin("PUT", "/guilds/"+g, settings(object{"curve": "amari"})).Want(t, 200)
	if e := f.take(); e.name != "reset" || !strings.Contains(e.data, `"reason":"settings"`) {
		t.Errorf("a new curve sends %+v, want a reset for settings", e)
	}
	cleared := s.replaced("/guilds/" + g + "/reset")
	for e := f.take(); !strings.Contains(e.data, `"reason":"cleared"`); e = f.take() {
		if e.name != "" && e.name != "reset" {
			t.Fatalf("after a reset of the guild comes %+v, want only resets", e)
		}
	}
	s.replaced("/guilds/" + g + "/checkpoints/" + cleared.Checkpoint.ID + "/restore")
	for e := f.take(); !strings.Contains(e.data, `"reason":"restore"`); e = f.take() {
		if e.name != "" && e.name != "reset" {
			t.Fatalf("after a restore of the guild comes %+v, want only resets", e)
		}
	}
	s.create(key, g, newID(), 5000)
	if e := f.take(); e.name != "levelup" {
		t.Errorf("after a restore a new member sends %+v on the same stream, want a level-up", e)
	}
}

func refusedCheckpoints(t *testing.T, s *service) {
	g := s.guild(nil)
	path := "/guilds/" + g + "/checkpoints"
	for _, call := range [][2]string{{"POST", path + "/1/restore"}, {"POST", path + "/x/restore"}, {"DELETE", path + "/1"}} {
		wantFailure(t, s.admin(call[0], call[1], nil), 404)
	}
	for i := range 20 {
		s.checkpoint(g, fmt.Sprint(i))
	}
	wantFailure(t, s.admin("POST", path, object{"name": "one more"}), 409)
	if got := len(s.checkpoints(g)); got != 20 {
		t.Errorf("%d checkpoints after the refused calls, want 20", got)
	}
}

func (s *service) checkpoints(g string) []checkpointAnswer {
	s.t.Helper()
	return apitest.JSON[struct{ Checkpoints []checkpointAnswer }](s.t, s.admin("GET", "/guilds/"+g+"/checkpoints", nil).Want(s.t, 200)).Checkpoints
}
