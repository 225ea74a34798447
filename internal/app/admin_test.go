package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/testing/apitest"
)

var adminCases = cases{
	"a guild's defaults":                      guildDefaults,
	"what GET gave can be PUT back":           roundTrip,
	"PUT creates with 201, replaces with 200": createdThenReplaced,
	"a refused PUT makes no guild":            refusedPutMakesNoGuild,
	"members stay when settings go":           membersStay,
	"deleting removes the members":            deletingRemovesMembers,
	"PATCH changes what it names":             guildChanges,
	"a key is shown once":                     keyIsShownOnce,
	"a key's defaults":                        keyDefaults,
	"grants are idempotent":                   grantUngrant,
	"a key is revoked once":                   revokeTwice,
	"grants need existing guilds":             grantsNeedGuilds,
}

func guildDefaults(t *testing.T, s *service) {
	g := newID()
	made := s.admin("PUT", "/guilds/"+g, `{"name":"Gophers","memberCount":1,"ownerId":"900000000000000001"}`).Want(t, 201)
	want := fmt.Sprintf(`{"id":%q,"name":"Gophers","icon":null,"memberCount":1,"ownerId":"900000000000000001","adminIds":[],
		"enabled":true,"visibility":"public","embedding":false,"vanity":null,"curve":"default",
		"xpGainInterval":60000,"xpPerMessageMin":15,"xpPerMessageMax":40,"xpGlobalMultiplier":1,
		"ignoredChannelIds":[],"ignoredRoleIds":[],"ignoredUserIds":[],"multipliers":[],"roleRewards":[],
		"timeZone":"UTC","periods":[],"seasons":[],"auditIncrementsFrom":1000,"announcements":[]}`, g)
	wantJSON(t, made, want)
	wantJSON(t, s.admin("GET", "/guilds/"+g, nil).Want(t, 200), want)
	wantNoBody(t, s.admin("HEAD", "/guilds/"+g, nil).Want(t, 200))
}

func guildChanges(t *testing.T, s *service) {
	g := newID()
	s.admin("PATCH", "/guilds/"+g, `{"name":"Moles"}`).Want(t, 404)
	whole := wholeGuild("patch" + g[10:])
	s.admin("PUT", "/guilds/"+g, jsonText(t, whole)).Want(t, 201)
	whole["name"], whole["memberCount"], whole["icon"], whole["ignoredUserIds"] = "Moles", 7, nil, []string{}
	changed := s.admin("PATCH", "/guilds/"+g, `{"id":"`+g+`","name":"Moles","memberCount":7,"icon":null,"ignoredUserIds":[]}`).Want(t, 200)
	wantJSON(t, s.admin("PUT", "/guilds/"+g, jsonText(t, whole)).Want(t, 200), string(changed.Body))
	wantJSON(t, s.admin("PATCH", "/guilds/"+g, `{}`).Want(t, 200), string(changed.Body))
	for body, status := range map[string]int{
		`{"name":""}`: 400, `{"nope":1}`: 400, `[]`: 400, `{"name":"` + strings.Repeat("x", 100<<10) + `"}`: 400, `{"name":"` + strings.Repeat("x", 256<<10) + `"}`: 413,
	} {
		s.admin("PATCH", "/guilds/"+g, body, apitest.Bad()).Want(t, status)
	}
	s.admin("PATCH", "/guilds/"+g, `{"id":"`+newID()+`"}`).Want(t, 400)
	s.admin("PATCH", "/guilds/"+g, `{"xpPerMessageMax":1}`).Want(t, 400)
	wantJSON(t, s.admin("GET", "/guilds/"+g, nil).Want(t, 200), string(changed.Body))
}

// wholeGuild returns settings that all differ from their defaults.
func wholeGuild(vanity string) object {
	return object{
		"name": `Ünïcode & <html> "quotes"`, "icon": "a_0123456789abcdef0123456789abcdef", "memberCount": 2000000, "ownerId": newID(),
		"adminIds": []string{newID(), newID()}, "enabled": false, "visibility": "private", "embedding": true, "vanity": vanity, "curve": []float64{0.5, 10, 1.25},
		"xpGainInterval": 10001, "xpPerMessageMin": 2, "xpPerMessageMax": 999, "xpGlobalMultiplier": 0.25,
		"ignoredChannelIds": []string{newID()}, "ignoredRoleIds": []string{newID(), newID()}, "ignoredUserIds": []string{newID()},
		"multipliers": []object{
			{"id": channelMultiplierID, "type": "Channel", "multiplier": 0, "targets": []object{{"id": newID(), "name": "go", "parentId": newID(), "position": 2, "type": 15}}},
			{"id": roleMultiplierID, "type": "Role", "multiplier": 4.75, "targets": []object{
				{"id": newID(), "name": "A", "color": 0, "position": 0}, {"id": newID(), "name": "B", "color": nil, "position": 1},
			}},
		},
		"roleRewards": []object{
			{"id": rewardID, "level": 0, "stack": false, "roles": []object{{"id": newID(), "name": "New", "color": 255, "position": 9}}},
			{"id": strings.Replace(rewardID, "003", "004", 1), "level": 10000, "stack": true, "roles": []object{{"id": newID(), "name": "Old", "color": nil, "position": 3}}},
		},
		"timeZone": "America/Argentina/Buenos_Aires", "periods": []string{"week", "day"},
		"seasons": []object{
			{"id": "spring-27", "name": "Frühling", "start": "2027-03-01", "end": "2027-06-01"},
			{"id": "winter-26", "name": "Winter", "start": "2026-12-01", "end": "2027-03-01"},
		},
		"auditIncrementsFrom": 0, "announcements": []object{},
	}
}

func roundTrip(t *testing.T, s *service) {
	g := newID()
	document := wholeGuild("round" + g[12:])
	made := s.admin("PUT", "/guilds/"+g, document).Want(t, 201)
	document["id"] = g
	wantJSON(t, made, jsonText(t, document))
	got := s.admin("GET", "/guilds/"+g, nil).Want(t, 200)
	wantJSON(t, got, jsonText(t, document))
	wantJSON(t, s.admin("PUT", "/guilds/"+g, got.Body).Want(t, 200), jsonText(t, document))
	wantJSON(t, s.admin("GET", "/guilds/"+g, nil).Want(t, 200), jsonText(t, document))

	// A preset stays a name. Coefficients equal to a preset's stay a custom curve.
	for _, curve := range []any{"amari", "mee6", "default", []any{7.0, 1.5, 0.0, 2.0, 0.125}} {
		s.admin("PUT", "/guilds/"+g, settings(object{"curve": curve})).Want(t, 200)
		if kept := apitest.At[any](t, s.admin("GET", "/guilds/"+g, nil), "curve"); fmt.Sprint(kept) != fmt.Sprint(curve) {
			t.Errorf("GET shows the curve %v, want %v as PUT", kept, curve)
		}
	}
}

func createdThenReplaced(t *testing.T, s *service) {
	g := newID()
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 200)
	s.admin("PUT", "/guilds/"+g, settings(object{"id": g})).Want(t, 200)
	wantNoBody(t, s.admin("DELETE", "/guilds/"+g, nil).Want(t, 204))
	wantFailure(t, s.admin("GET", "/guilds/"+g, nil), 404)
	wantFailure(t, s.admin("DELETE", "/guilds/"+g, nil), 404)
	s.admin("PUT", "/guilds/"+g, settings(object{"id": g})).Want(t, 201)
}

func refusedPutMakesNoGuild(t *testing.T, s *service) {
	vanity := "refused" + newID()[12:]
	s.guild(object{"vanity": vanity})
	for _, over := range []object{{"vanity": vanity}, {"memberCount": 0}, {"curve": []int{5, -1}}} {
		g := newID()
		if got := s.Do("PUT", "/admin/guilds/"+g, "", settings(over), apitest.AdminToken(s.token), apitest.Bad()); got.Status < 400 {
			t.Errorf("PUT with %v is %d, want a refusal", over, got.Status)
		}
		wantFailure(t, s.admin("GET", "/guilds/"+g, nil), 404)
		wantFailure(t, s.Do("GET", boardPath(g, 1), "", nil), 404)
	}
}

func membersStay(t *testing.T, s *service) {
	g, u := s.guild(nil), newID()
	key := s.key(g)
	s.create(key, g, u, 4200)
	s.admin("PUT", "/guilds/"+g, settings(object{"curve": "amari", "enabled": false})).Want(t, 200)
	s.admin("PUT", "/guilds/"+g, settings(object{"curve": "mee6"})).Want(t, 200)
	if m := s.member(key, g, u); m.Level.XP != 4200 || m.Level.Rank != 1 || m.Level.Level != 9 {
		t.Errorf("after new settings the member is %v, want 4200 XP, rank 1 and level 9", flat(m))
	}
}

func deletingRemovesMembers(t *testing.T, s *service) {
	g, u := s.guild(object{"vanity": "gone" + newID()[10:]}), newID()
	key := s.key(g)
	s.create(key, g, u, 5)
	s.fill(key, g, 120)
	s.admin("DELETE", "/guilds/"+g, nil).Want(t, 204)
	for _, c := range v2Calls(t, g, u) {
		wantRefused(t, s.Do(c.Method, c.Address(), key, bodyOrNone(c.Body)), 404)
	}
	s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)
	again := s.key(g)
	wantFailure(t, s.Do("GET", memberPath(g, u), again, nil), 404)
	s.create(again, g, u, 1)
	if b := s.board("", g, 1); len(b.Levels) != 1 || b.Levels[0].XP != 1 || b.Vanity != nil {
		t.Errorf("the new guild's board is %+v, want one member with 1 XP and no vanity", b)
	}
}

// Lists need a service of their own, because other tests create guilds and keys meanwhile.
func TestAdminLists(t *testing.T) {
	t.Parallel()
	environ := onServers(t)
	s := start(t, environ...)
	wantJSON(t, s.admin("GET", "/guilds", nil).Want(t, 200), `{"guilds":[],"next":null}`)
	wantJSON(t, s.admin("GET", "/keys", nil).Want(t, 200), `{"keys":[],"next":null}`)
	// Lists are in the order of the text: as a number 17 digits would come before 19.
	ids := []string{"99999999999999999", "100000000000000001", "1000000000000000002", "555555555555555555", "55555555555555555"}
	for _, g := range ids {
		s.admin("PUT", "/guilds/"+g, settings(nil)).Want(t, 201)
	}
	slices.Sort(ids)
	s.wantList("guilds", ids)
	var keys []string
	for range 5 {
		id, _ := s.mint(nil)
		keys = append(keys, id)
	}
	slices.Sort(keys)
	s.wantList("keys", keys)
	wantNoBody(t, s.admin("HEAD", "/guilds", nil).Want(t, 200))
	wantNoBody(t, s.admin("HEAD", "/keys", nil).Want(t, 200))
}

// wantList reads a list in pages of several sizes.
func (s *service) wantList(name string, want []string) {
	s.t.Helper()
	for _, limit := range []int{1, 2, 3, len(want) - 1, len(want), len(want) + 1, 1000} {
		var got []string
		for after, part := "", 0; ; part++ {
			answer := s.admin("GET", fmt.Sprintf("/%s?limit=%d%s", name, limit, after), nil).Want(s.t, 200)
			list := apitest.JSON[map[string]any](s.t, answer)
			entries, _ := list[name].([]any)
			if len(entries) > limit || part > len(want) {
				s.t.Fatalf("page %d of %s has %d entries, want at most %d, and no more pages than entries", part, name, len(entries), limit)
			}
			for _, entry := range entries {
				got = append(got, apitest.At[string](s.t, apitest.Response{Body: []byte(jsonText(s.t, entry))}, "id"))
			}
			next, more := list["next"].(string)
			if !more {
				break
			}
			if next != got[len(got)-1] {
				s.t.Errorf("next is %s, want the last id %s", next, got[len(got)-1])
			}
			after = "&after=" + next
		}
		if !slices.Equal(got, want) {
			s.t.Errorf("%s in pages of %d are %v, want %v", name, limit, got, want)
		}
	}
}
