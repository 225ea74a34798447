package app_test

import (
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/testenv"
)

var importCases = cases{
	"an import makes no events or gains": importSilently,
	"an import is applied once":          importOnce,
}

func TestImportOnThePages(t *testing.T) {
	t.Parallel()
	provider := testenv.OAuth(t)
	s := start(t, slices.Concat(onServers(t), provider.Environ(), []string{often})...)
	provider.Register(s.app.URL() + "/sign-in/callback")
	importOnThePages(t, s, provider)
}

type begunImport struct {
	ID         string
	Checkpoint checkpointAnswer
	Continued  bool
}

func (s *service) beginImport(g string, body object) begunImport {
	s.t.Helper()
	return apitest.JSON[begunImport](s.t, s.admin("POST", "/guilds/"+g+"/imports", body).Want(s.t, 201))
}

func (s *service) finishImport(g, importID string) {
	s.t.Helper()
	s.admin("POST", "/guilds/"+g+"/imports/"+importID+"/finish", object{"members": 3}).Want(s.t, 204)
}

func importSilently(t *testing.T, s *service) {
	g := s.guild(object{"periods": []string{"day"}, "roleRewards": []object{}})
	key, there, hidden, fresh := s.key(g), newID(), newID(), newID()
	s.create(key, g, there, 50)
	s.create(key, g, hidden, 50)
	f := s.follow(key, g, "")
	begun := s.beginImport(g, object{})
	if begun.Checkpoint.Members != 2 || !begun.Checkpoint.Automatic || begun.Continued || begun.ID == "" {
		t.Errorf("the begun import is %+v, want an id and an automatic checkpoint of 2 members", begun)
	}
	members := []object{{"userId": there, "xp": 1000}, {"userId": hidden, "xp": 1, "present": false}, {"userId": fresh, "xp": 2000, "present": true}}
	got := putResults(t, s.admin("PUT", "/guilds/"+g+"/members", object{"mode": "add", "members": members}))
	if len(got) != 3 || got[0].XP != 1050 || got[1].XP != 51 || got[1].Outcome != "changed" || got[2].Outcome != "created" {
		t.Errorf("the results are %+v, want 1050 XP, 51 XP changed and one created", got)
	}
	s.finishImport(g, begun.ID)
	if e := f.take(); e.name != "reset" || !strings.Contains(e.data, `"reason":"import"`) {
		t.Errorf("followers get %+v, want a reset for the import", e)
	}
	if board := s.board(key, g, 1); len(board.Levels) != 2 || board.Levels[0].UserID != fresh {
		t.Errorf("the board is %+v, want 2 members with %s first", board.Levels, fresh)
	}
	wantFailure(t, s.Do("GET", memberPath(g, hidden), key, nil), 404)
	day := apitest.JSON[struct{ Levels []object }](t, s.Do("GET", "/v2/levels/"+g+"?page=1&period=day", key, nil).Want(t, 200))
	if len(day.Levels) != 0 {
		t.Errorf("the import counts for the day: %v, want no rows", day.Levels)
	}
	// The undo restores everything.
	s.replaced("/guilds/" + g + "/checkpoints/" + begun.Checkpoint.ID + "/restore")
	if m := s.member(key, g, hidden); m.Level.XP != 50 {
		t.Errorf("after the undo the member is %+v, want 50 XP", m)
	}
}

func importOnce(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key, files, plan := s.key(g), strings.Repeat("0a", 32), strings.Repeat("0c", 32)
	add := func(importID string) apitest.Response {
		return s.admin("PUT", "/guilds/"+g+"/members", object{"mode": "add", "members": []object{{"userId": u, "xp": 5}}}, apitest.Header("Idempotency-Key", importID+"-0")).Want(t, 200)
	}
	begun := s.beginImport(g, object{"files": files, "plan": plan})
	add(begun.ID)
	// With other options the import has other calls: the service refuses it before the first one.
	other := s.admin("POST", "/guilds/"+g+"/imports", object{"files": files, "plan": files})
	if wantFailure(t, other, 409); !strings.Contains(string(other.Body), "checkpoint restore "+begun.Checkpoint.ID) {
		t.Errorf("beginning with another plan says %s, want the command that undoes the first", other.Body)
	}
	// An interrupted import continues. It does not apply twice what was applied.
	continued := s.beginImport(g, object{"files": files, "plan": plan, "again": true})
	if continued.ID != begun.ID || !continued.Continued || continued.Checkpoint.ID != begun.Checkpoint.ID {
		t.Errorf("the continued import is %+v, want %+v", continued, begun)
	}
	add(continued.ID)
	s.finishImport(g, begun.ID)
	wantFailure(t, s.admin("POST", "/guilds/"+g+"/imports", object{"files": files}), 409)
	if m := s.member(key, g, u); m.Level.XP != 5 {
		t.Errorf("after the file was sent twice the member is %+v, want 5 XP", m)
	}
	again := s.beginImport(g, object{"files": files, "again": true})
	add(again.ID)
	s.finishImport(g, again.ID)
	if m := s.member(key, g, u); again.ID == begun.ID || m.Level.XP != 10 {
		t.Errorf("the second import is %+v with the member %+v, want a new id and 10 XP", again, m)
	}
	s.beginImport(g, object{"files": strings.Repeat("0b", 32)})
	s.beginImport(s.guild(nil), object{"files": files})
	// A checkpoint that was created after the import contains it.
	made := apitest.JSON[checkpointAnswer](t, s.admin("POST", "/guilds/"+g+"/checkpoints", object{"name": "after"}).Want(t, 201))
	s.replaced("/guilds/" + g + "/checkpoints/" + made.ID + "/restore")
	wantFailure(t, s.admin("POST", "/guilds/"+g+"/imports", object{"files": files}), 409)
	// An undone import can be applied to the current members.
	s.replaced("/guilds/" + g + "/checkpoints/" + begun.Checkpoint.ID + "/restore")
	after := s.beginImport(g, object{"files": files})
	if add(after.ID); after.Continued || s.member(key, g, u).Level.XP != 5 {
		t.Errorf("after a restore the import %+v is continued or does not give the member 5 XP", after)
	}
}
