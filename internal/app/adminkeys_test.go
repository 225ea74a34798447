package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"levelboard/internal/testing/apitest"
)

func (s *service) shownKey(id string) object {
	s.t.Helper()
	for after := ""; ; {
		got := s.admin("GET", "/keys"+after, nil).Want(s.t, 200)
		list := apitest.JSON[struct {
			Keys []object
			Next *string
		}](s.t, got)
		for _, k := range list.Keys {
			if k["id"] == id {
				return k
			}
		}
		if list.Next == nil {
			return nil
		}
		after = "?after=" + *list.Next
	}
}

func keyIsShownOnce(t *testing.T, s *service) {
	first, second := s.guild(nil), s.guild(nil)
	expires := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	began := time.Now().Truncate(time.Millisecond)
	made := s.admin("POST", "/keys", object{
		"name": "My bot", "ownerId": owner, "permission": "read_write", "guildIds": []string{second, first},
		"expiresAt": expires.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano), "rateLimit": 7,
	}).Want(t, 201)
	if cache := made.Header.Get("Cache-Control"); !strings.Contains(cache, "no-store") {
		t.Errorf("Cache-Control of the answer with the secret is %q, want no-store", cache)
	}
	shown := apitest.JSON[object](t, made)
	secret, _ := shown["key"].(string)
	id, _ := shown["id"].(string)
	if !strings.HasPrefix(secret, "lb_"+id) || len(id) != 12 {
		t.Errorf("the key %q has the id %q, want its 12 characters after lb_", secret, id)
	}
	grants := []any{first, second}
	want := object{"id": id, "name": "My bot", "ownerId": owner, "permission": "read_write", "guildIds": grants, "rateLimit": 7.0,
		"expiresAt": shown["expiresAt"], "createdAt": shown["createdAt"]}
	for name, value := range map[string]time.Time{"expiresAt": expires, "createdAt": began} {
		at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(shown[name]))
		if err != nil || at.Sub(value).Abs() > 10*time.Second || name == "expiresAt" && !at.Equal(value) {
			t.Errorf("%s is %v, want %v within 10 s (%v)", name, shown[name], value, err)
		}
	}
	listed := s.shownKey(id)
	if jsonText(t, listed) != jsonText(t, want) {
		t.Errorf("the new key is listed as %v, want %v", listed, want)
	}
	if all := s.admin("GET", "/keys", nil); strings.Contains(string(all.Body), secret) || strings.Contains(string(all.Body), secret[15:40]) {
		t.Error("the list of keys contains a secret or a part of it")
	}
}

func keyDefaults(t *testing.T, s *service) {
	made := apitest.JSON[object](t, s.admin("POST", "/keys", `{"name":"x","ownerId":"900000000000000001","permission":"read"}`).Want(t, 201))
	for name, want := range map[string]any{"expiresAt": nil, "rateLimit": nil, "permission": "read"} {
		if made[name] != want {
			t.Errorf("%s of a new key is %v, want %v", name, made[name], want)
		}
	}
	if grants := made["guildIds"]; fmt.Sprint(grants) != "[]" {
		t.Errorf("a new key has access to %v, want no guild", grants)
	}
	explicit := s.admin("POST", "/keys", `{"name":"x","ownerId":"900000000000000001","permission":"read","guildIds":[],"expiresAt":null,"rateLimit":null}`)
	explicit.Want(t, 201)
}

func grantUngrant(t *testing.T, s *service) {
	first, second := s.guild(nil), s.guild(nil)
	id, _ := s.mint(nil)
	wantGrants := func(want ...string) {
		t.Helper()
		if got := fmt.Sprint(s.shownKey(id)["guildIds"]); got != fmt.Sprint(want) {
			t.Errorf("the key's grants are %s, want %v", got, want)
		}
	}
	for range 2 {
		wantNoBody(t, s.admin("PUT", "/keys/"+id+"/guilds/"+second, nil).Want(t, 204))
		s.admin("PUT", "/keys/"+id+"/guilds/"+first, nil).Want(t, 204)
		wantGrants(first, second)
	}
	for range 2 {
		wantNoBody(t, s.admin("DELETE", "/keys/"+id+"/guilds/"+first, nil).Want(t, 204))
		wantGrants(second)
	}
	s.admin("DELETE", "/guilds/"+second, nil).Want(t, 204)
	wantGrants()
}

func revokeTwice(t *testing.T, s *service) {
	id, _ := s.mint(nil)
	wantNoBody(t, s.admin("DELETE", "/keys/"+id, nil).Want(t, 204))
	wantFailure(t, s.admin("DELETE", "/keys/"+id, nil), 404)
	if shown := s.shownKey(id); shown != nil {
		t.Errorf("a revoked key is still listed: %v", shown)
	}
}

func grantsNeedGuilds(t *testing.T, s *service) {
	name := "never" + newID()
	wantFailure(t, s.admin("POST", "/keys", object{"name": name, "ownerId": owner, "permission": "read", "guildIds": []string{s.guild(nil), newID()}}), 404)
	if all := s.admin("GET", "/keys", nil); strings.Contains(string(all.Body), name) {
		t.Error("a key was created though one of its guilds does not exist")
	}
	id, _ := s.mint(nil)
	for _, path := range []string{"/keys/" + id + "/guilds/" + newID(), "/keys/000000000000/guilds/" + s.guild(nil)} {
		wantFailure(t, s.admin("PUT", path, nil), 404)
	}
	wantFailure(t, s.admin("DELETE", "/keys/000000000000/guilds/"+s.guild(nil), nil), 404)
}
