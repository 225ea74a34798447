package browsertest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"levelboard/internal/app"
	"levelboard/internal/testing/apitest"
	"levelboard/internal/testing/service"
	"levelboard/internal/testing/testenv"
)

// ada signs in, and owns the guilds of the tests.
const ada = "900000000000000001"

// object is a JSON object.
type object = map[string]any

// site is a running service to which Ada can sign in.
type site struct {
	t        *testing.T
	app      *app.App
	url      string
	provider *testenv.OAuthServer
	*apitest.Client
}

// newSite runs a service until the test ends. Settings in environ override the defaults.
func newSite(t *testing.T, environ ...string) *site {
	t.Helper()
	provider := testenv.OAuth(t)
	running := service.Start(t, append(provider.Environ(), environ...)...)
	provider.Register(running.URL() + "/sign-in/callback")
	s := &site{t: t, app: running, url: running.URL(), provider: provider, Client: apitest.NewClient(t, running.URL())}
	s.adaManages()
	return s
}

// adaManages sets the guilds that the provider lists for Ada, from the next sign-in on.
func (s *site) adaManages(guilds ...string) {
	owned := []object{}
	for _, g := range guilds {
		owned = append(owned, object{"id": g, "name": "Gophers", "icon": nil, "owner": true, "permissions": "0"})
	}
	s.provider.SetUser(object{"id": ada, "username": "ada", "global_name": "Ada Lovelace", "avatar": nil}, owned)
}

var lastID atomic.Int64

func newID() string { return fmt.Sprintf("%018d", 100000000000000000+lastID.Add(1)) }

// guild creates a guild of Ada's with these settings over the defaults, and returns its id.
func (s *site) guild(over object) string {
	s.t.Helper()
	settings := object{"name": "Gophers", "memberCount": 5000, "ownerId": ada}
	for name, value := range over {
		settings[name] = value
	}
	g := newID()
	s.Do("PUT", "/admin/guilds/"+g, "", settings, apitest.AdminToken(service.AdminToken)).Want(s.t, 201)
	return g
}

// key creates a read/write key for a guild.
func (s *site) key(g string) string {
	s.t.Helper()
	body := object{"name": "bot", "ownerId": newID(), "permission": "read_write", "guildIds": []string{g}}
	made := s.Do("POST", "/admin/keys", "", body, apitest.AdminToken(service.AdminToken)).Want(s.t, 201)
	return apitest.At[string](s.t, made, "key")
}

// member creates a member of a guild and returns their id.
func (s *site) member(key, g, name string, xp int) string {
	s.t.Helper()
	u := newID()
	user := object{"avatar": nil, "discriminator": "0", "username": name}
	s.Do("POST", "/v2/levels/"+g+"/users/"+u, key, object{"xp": xp, "user": user}).Want(s.t, 200)
	return u
}

// channel is the channel of all messages.
const channel = "500000000000000001"

// messages sends messages as a bot does.
func (s *site) messages(key, g string, messages ...object) {
	s.t.Helper()
	s.Do("POST", "/v2/guilds/"+g+"/messages", key, object{"messages": messages}).Want(s.t, 200)
}
