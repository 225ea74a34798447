package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var boardCases = cases{
	"a page has every field":                everyField,
	"an empty board has no rows":            emptyBoard,
	"250 members on three pages":            threePages,
	"found by id, or by vanity in any case": byIDOrVanity,
	"isManager":                             isManager,
	"private boards need a grant":           privateBoards,
	"disabled and unknown boards are 404":   disabledAndUnknown,
	"settings show at once":                 settingsShowAtOnce,
	"caching follows the caller":            cachingFollowsTheCaller,
	"a vanity can be reused":                vanityGivenUp,
	"changed members show at once":          changedMembersShow,
	"the curve's highest level is shown":    highestLevel,
}

const (
	channelMultiplierID = "0b9d5f36-6c5e-4c55-9a39-0d7d1f6ad001"
	roleMultiplierID    = "0b9d5f36-6c5e-4c55-9a39-0d7d1f6ad002"
	rewardID            = "0b9d5f36-6c5e-4c55-9a39-0d7d1f6ad003"
)

func everyField(t *testing.T, s *service) {
	vanity := "every" + newID()[10:]
	g, u := s.guild(object{
		"name": "Gophers <3", "icon": "a_0123456789abcdef0123456789abcdef", "memberCount": 77, "vanity": vanity,
		"xpGainInterval": 10000, "xpPerMessageMin": 1, "xpPerMessageMax": 1000, "xpGlobalMultiplier": 2.5,
		"multipliers": []object{
			{"id": channelMultiplierID, "type": "Channel", "multiplier": 0.5, "targets": []object{
				{"id": "200000000000000001", "name": "help", "parentId": nil, "position": 1, "type": 0},
				{"id": "200000000000000002", "name": "go", "parentId": "200000000000000009", "position": 0, "type": 5},
			}},
			{"id": roleMultiplierID, "type": "Role", "multiplier": 5, "targets": []object{
				{"id": "300000000000000001", "name": "Patron", "color": 16711680, "position": 3},
			}},
		},
		"roleRewards": []object{{"id": rewardID, "level": 5, "stack": false, "roles": []object{
			{"id": "300000000000000002", "name": "Regular", "color": nil, "position": 1},
		}}},
	}), newID()
	s.Do("POST", memberPath(g, u), s.key(g), object{"xp": 4625, "user": object{
		"avatar": "0123456789abcdef0123456789abcdef", "discriminator": "0001", "username": "ada", "globalName": "Ada L.",
	}}).Want(t, 200)
	got := s.Do("GET", boardPath(g, 1), "", nil).Want(t, 200)
	wantHeader(t, got, "Content-Type", "application/json")
	wantLimits(t, got)
	wantJSON(t, got, fmt.Sprintf(`{
		"guild": {"icon": "a_0123456789abcdef0123456789abcdef", "id": %q, "memberCount": 77, "name": "Gophers <3"},
		"isManager": false,
		"levels": [{"level": 10, "messageCount": 0, "nextLevelXp": 5100, "progress": 50, "rank": 1,
			"user": {"accentColour": null, "avatar": "0123456789abcdef0123456789abcdef", "discriminator": "0001", "globalName": "Ada L.", "username": "ada"},
			"userId": %q, "xp": 4625}],
		"multipliers": [
			{"id": %q, "multiplier": 0.5, "type": "Channel", "targets": [
				{"id": "200000000000000001", "name": "help", "parentId": null, "position": 1, "type": 0},
				{"id": "200000000000000002", "name": "go", "parentId": "200000000000000009", "position": 0, "type": 5}]},
			{"id": %q, "multiplier": 5, "type": "Role", "targets": [
				{"color": 16711680, "id": "300000000000000001", "name": "Patron", "position": 3}]}],
		"roleRewards": [{"id": %q, "level": 5, "roles": [{"color": null, "id": "300000000000000002", "name": "Regular", "position": 1}]}],
		"vanity": %q, "xpGainInterval": 10000, "xpGlobalMultiplier": 2.5, "xpPerMessageMax": 1000, "xpPerMessageMin": 1}`,
		g, u, channelMultiplierID, roleMultiplierID, rewardID, vanity))
}

func emptyBoard(t *testing.T, s *service) {
	g := s.guild(nil)
	got := s.Do("GET", boardPath(g, 1), "", nil).Want(t, 200)
	wantJSON(t, got, fmt.Sprintf(`{"guild":{"icon":null,"id":%q,"memberCount":5000,"name":"Gophers"},"isManager":false,"levels":[],
		"multipliers":[],"roleRewards":[],"vanity":null,"xpGainInterval":60000,"xpGlobalMultiplier":1,"xpPerMessageMax":40,"xpPerMessageMin":15}`, g))
}

// fill creates n members with 10n, 10(n-1), ..., 10 XP and returns their ids.
func (s *service) fill(key, g string, n int) []string {
	s.t.Helper()
	users := make([]string, n)
	for i := range users {
		users[i] = newID()
	}
	together(s.t, n, 8, func(i int) error {
		body := fmt.Sprintf(`{"xp":%d,"user":{"avatar":null,"discriminator":"0","username":"gopher%d"}}`, 10*(n-i), i)
		got, err := s.quick("POST", memberPath(g, users[i]), key, body)
		if err == nil && got.Status != 200 {
			err = fmt.Errorf("status %d: %s", got.Status, got.Body)
		}
		return err
	})
	return users
}

func threePages(t *testing.T, s *service) {
	g := s.guild(nil)
	users := s.fill(s.key(g), g, 250)
	for page, want := range [][]string{users[:100], users[100:200], users[200:]} {
		got := s.board("", g, page+1)
		if !slices.Equal(got.order(), want) {
			t.Errorf("page %d holds %v, want %v", page+1, got.order(), want)
		}
		for i, entry := range got.Levels {
			place := 100*page + i
			if entry.Rank != place+1 || entry.XP != 10*(250-place) || entry.User["username"] != fmt.Sprintf("gopher%d", place) {
				t.Fatalf("row %d is %+v, want rank %d with %d XP of gopher%d", place+1, entry, place+1, 10*(250-place), place)
			}
		}
	}
	// The API sets no upper bound for the page. The last two exceed what the description's validator can parse.
	for _, page := range []string{"4", "5", "1000000", "9223372036854775807", "9223372036854775808", "100000000000000000000000000"} {
		got, err := s.quick("GET", "/v2/levels/"+g+"?page="+page, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if levels := apitest.At[[]any](t, got.Want(t, 200), "levels"); len(levels) != 0 {
			t.Errorf("page %s holds %d members, want none", page, len(levels))
		}
	}
}

func highestLevel(t *testing.T, s *service) {
	g := s.guild(object{"curve": []int{0, 1}})
	key := s.key(g)
	for _, xp := range []int{maxXP, 10000} {
		s.create(key, g, newID(), xp)
	}
	for _, entry := range s.board("", g, 1).Levels {
		if entry.Level != 10000 || entry.NextLevelXP != 10000 || entry.Progress != 100 {
			t.Errorf("the row of %d XP is %+v, want level 10000 with a progress of 100", entry.XP, entry)
		}
	}
}

func byIDOrVanity(t *testing.T, s *service) {
	vanity := "gophers" + newID()[12:]
	g := s.guild(object{"vanity": vanity})
	s.create(s.key(g), g, newID(), 5)
	want := s.Do("GET", boardPath(g, 1), "", nil).Want(t, 200)
	for _, entry := range []string{vanity, strings.ToUpper(vanity), "GoPhErS" + vanity[7:]} {
		got := s.Do("GET", boardPath(entry, 1), "", nil).Want(t, 200)
		wantJSON(t, got, string(want.Body))
	}
	for _, entry := range []string{vanity + "x", vanity[1:], newID(), "12345678901234567890"} {
		got := s.Do("GET", boardPath(entry, 1), "", nil)
		wantFailure(t, got, 404)
		wantLimits(t, got)
	}
}

func isManager(t *testing.T, s *service) {
	boss, admin, other := newID(), newID(), newID()
	g := s.guild(object{"ownerId": boss, "adminIds": []string{admin}})
	asked := func(user string) bool {
		if user == "" {
			return s.board("", g, 1).IsManager
		}
		_, key := s.mint(object{"ownerId": user, "permission": "read"})
		return s.board(key, g, 1).IsManager
	}
	// The second round reads cached pages.
	for range 2 {
		for user, want := range map[string]bool{boss: true, admin: true, other: false, "": false} {
			if got := asked(user); got != want {
				t.Errorf("isManager for the key of %q is %v, want %v", user, got, want)
			}
		}
	}
	s.admin("PUT", "/guilds/"+g, settings(object{"ownerId": other})).Want(t, 200)
	for user, want := range map[string]bool{boss: false, admin: false, other: true, "": false} {
		if got := asked(user); got != want {
			t.Errorf("after a change of owner isManager for the key of %q is %v, want %v", user, got, want)
		}
	}
}

func privateBoards(t *testing.T, s *service) {
	boss := newID()
	vanity := "private" + newID()[10:]
	g := s.guild(object{"visibility": "private", "ownerId": boss, "vanity": vanity})
	_, bossKey := s.mint(object{"ownerId": boss})
	granted, stranger := s.reader(g), s.reader(s.guild(nil))
	for _, entry := range []string{g, vanity} {
		wantFailure(t, s.Do("GET", boardPath(entry, 1), "", nil), 401)
		wantFailure(t, s.Do("GET", boardPath(entry, 1), stranger, nil), 403)
		wantFailure(t, s.Do("GET", boardPath(entry, 1), bossKey, nil), 403)
		s.Do("GET", boardPath(entry, 1), granted, nil).Want(t, 200)
		s.Do("HEAD", boardPath(entry, 1), granted, nil).Want(t, 200)
		wantFailure(t, s.Do("GET", boardPath(entry, 7), "", nil), 401)
	}
	// A caller who may not read a page gets 401 even with its ETag.
	etag := s.Do("GET", boardPath(g, 1), granted, nil).Header.Get("ETag")
	refused := s.Do("GET", boardPath(g, 1), "", nil, apitest.Header("If-None-Match", etag))
	wantFailure(t, refused, 401)
	wantHeader(t, refused, "ETag", "")
}

func disabledAndUnknown(t *testing.T, s *service) {
	g, hidden := s.guild(object{"enabled": false}), s.guild(object{"enabled": false, "visibility": "private"})
	key := s.key(g, hidden)
	for _, entry := range []string{g, hidden, newID(), "nobodyhasthis"} {
		for _, caller := range []string{"", key} {
			got := s.Do("GET", boardPath(entry, 1), caller, nil)
			wantFailure(t, got, 404)
			wantLimits(t, got)
		}
	}
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 200)
	s.Do("GET", boardPath(g, 1), "", nil).Want(t, 200)
}

func settingsShowAtOnce(t *testing.T, s *service) {
	g := s.guild(nil)
	s.create(s.key(g), g, newID(), 100)
	for _, c := range []struct {
		over object
		path []any
		want any
	}{
		{object{"name": "New name"}, []any{"guild", "name"}, "New name"},
		{object{"xpGainInterval": 86400000}, []any{"xpGainInterval"}, 86400000.0},
		{object{"curve": "amari"}, []any{"levels", 0, "level"}, 2.0},
		{object{"curve": []int{0, 100}}, []any{"levels", 0, "nextLevelXp"}, 200.0},
		{object{"xpGlobalMultiplier": 0}, []any{"xpGlobalMultiplier"}, 0.0},
	} {
		s.admin("PUT", "/guilds/"+g, settings(c.over)).Want(t, 200)
		got := s.Do("GET", boardPath(g, 1), "", nil).Want(t, 200)
		if value := apitest.At[any](t, got, c.path...); value != c.want {
			t.Errorf("after the change %v, %v is %v, want %v", c.over, c.path, value, c.want)
		}
	}
	s.admin("PUT", "/guilds/"+g, settings(object{"visibility": "private"})).Want(t, 200)
	wantFailure(t, s.Do("GET", boardPath(g, 1), "", nil), 401)
}

func cachingFollowsTheCaller(t *testing.T, s *service) {
	public, private := s.guild(nil), s.guild(object{"visibility": "private"})
	key := s.key(private)
	for _, c := range []struct{ guild, key, want string }{
		{public, "", "public"}, {public, key, "private"}, {private, key, "private"},
	} {
		got := s.Do("GET", boardPath(c.guild, 1), c.key, nil).Want(t, 200)
		if cache := got.Header.Get("Cache-Control"); !strings.Contains(cache, c.want) {
			t.Errorf("Cache-Control is %q, want %q in it", cache, c.want)
		}
		if vary := strings.Join(got.Header.Values("Vary"), ","); !strings.Contains(vary, "X-Api-Key") {
			t.Errorf("Vary is %q, want X-Api-Key in it", vary)
		}
	}
}

func vanityGivenUp(t *testing.T, s *service) {
	vanity := "wander" + newID()[10:]
	first, second := s.guild(object{"vanity": vanity}), s.guild(nil)
	s.board("", vanity, 1)
	s.admin("PUT", "/guilds/"+first, settings(nil)).Want(t, 200)
	wantFailure(t, s.Do("GET", boardPath(vanity, 1), "", nil), 404)
	s.admin("PUT", "/guilds/"+second, settings(object{"vanity": vanity})).Want(t, 200)
	if got := s.board("", vanity, 1).Guild["id"]; got != second {
		t.Errorf("the vanity leads to the guild %v, want %s, which took it over", got, second)
	}
}

func changedMembersShow(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 0)
	for want := 1; want <= 20; want++ {
		s.patch(key, g, u, object{"increment": 1})
		if got := s.board("", g, 1).Levels[0].XP; got != want {
			t.Fatalf("the board shows %d XP after a change to %d was answered", got, want)
		}
	}
}
