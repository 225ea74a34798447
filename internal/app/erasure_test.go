package app_test

import (
	"testing"

	"levelboard/internal/testing/apitest"
)

var erasureCases = cases{
	"a user is found and erased":    eraseUser,
	"a restore brings no user back": eraseFromCheckpoints,
	"an unknown user is erased too": eraseNothing,
}

type storedAnswer struct {
	UserID string
	Guilds []struct {
		ID                      string
		XP, Level, MessageCount int64
		Present                 bool
		User                    struct{ Username string }
	}
	Keys                   []struct{ ID, Name string }
	Sessions, AuditRecords int64
}

func (s *service) stored(user string) storedAnswer {
	s.t.Helper()
	return apitest.JSON[storedAnswer](s.t, s.admin("GET", "/users/"+user, nil).Want(s.t, 200))
}

func (s *service) erase(user string) {
	s.t.Helper()
	s.admin("DELETE", "/users/"+user, nil).Want(s.t, 204)
}

func eraseUser(t *testing.T, s *service) {
	g, other, user, friend := s.guild(nil), s.guild(nil), newID(), newID()
	key := s.key(g, other)
	own := apitest.JSON[struct{ ID, Key string }](t, s.admin("POST", "/keys", object{"name": "bot of ada", "ownerId": user, "permission": "read_write", "guildIds": []string{g}}).Want(t, 201))
	s.create(key, g, user, 500)
	s.create(key, other, user, 7)
	s.create(key, g, friend, 100)
	s.Do("PUT", "/v2/guilds/"+other+"/presence", key, object{"present": false, "userIds": []string{user}}).Want(t, 200)

	found := s.stored(user)
	if found.UserID != user || len(found.Guilds) != 2 || len(found.Keys) != 1 || found.Keys[0].ID != own.ID || found.Keys[0].Name != "bot of ada" {
		t.Fatalf("stored of the user is %+v, want two guilds and the key of ada", found)
	}
	for _, in := range found.Guilds {
		if want := map[string]int64{g: 500, other: 7}[in.ID]; in.XP != want || in.Present != (in.ID == g) || in.Level != map[string]int64{g: 3, other: 0}[in.ID] {
			t.Errorf("stored in guild %s is %+v, want %d XP", in.ID, in, want)
		}
	}
	s.Do("GET", memberPath(g, user), own.Key, nil).Want(t, 200)
	s.erase(user)
	s.admin("GET", "/users/"+user, nil).Want(t, 404)
	s.Do("GET", memberPath(g, user), own.Key, nil).Want(t, 401)
	s.Do("GET", memberPath(g, user), key, nil).Want(t, 404)
	if board := s.board(key, g, 1); len(board.Levels) != 1 {
		t.Errorf("the board is %+v, want the other member only", board.Levels)
	}
	// A later message creates a new entry.
	s.create(key, g, user, 3)
	if found := s.stored(user); len(found.Guilds) != 1 || found.Guilds[0].XP != 3 || len(found.Keys) != 0 {
		t.Errorf("after a new entry of 3 XP %+v is stored, want that entry only", found)
	}
	s.erase(user)
	s.admin("GET", "/users/"+user, nil).Want(t, 404)
}

func eraseNothing(t *testing.T, s *service) {
	user := newID()
	s.admin("GET", "/users/"+user, nil).Want(t, 404)
	s.erase(user)
	s.erase(user)
}

func eraseFromCheckpoints(t *testing.T, s *service) {
	g, user, friend := s.guild(object{"periods": []string{"week"}}), newID(), newID()
	key := s.key(g)
	s.create(key, g, user, 500)
	s.create(key, g, friend, 100)
	s.patch(key, g, user, object{"increment": 50})
	made := s.checkpoint(g, "before")
	s.erase(user)
	if restored := s.replaced("/guilds/" + g + "/checkpoints/" + made.ID + "/restore"); restored.Members != 1 {
		t.Errorf("the restore answers %+v, want 1 member", restored)
	}
	s.Do("GET", memberPath(g, user), key, nil).Want(t, 404)
	s.admin("GET", "/users/"+user, nil).Want(t, 404)
}
