package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/signin"
)

// madeKey is a key created with the profile's form.
type madeKey struct {
	page
	id, secret, address string
}

var secretOf = regexp.MustCompile(`id="secret"[^>]*>(lb_([0-9A-Za-z]{12})[0-9A-Za-z]{38})<`)

// shown returns the secret that the page shows.
func (p page) shown() (secret, keyID string) {
	p.t.Helper()
	found := secretOf.FindStringSubmatch(p.text)
	if found == nil {
		p.t.Fatalf("the page %s shows no secret:\n%s", p.path, p.text)
	}
	return found[1], found[2]
}

// makeKey fills in the form. fields are names and values by turns, over those of a read-only key for 30 days.
func (b *browser) makeKey(fields ...string) madeKey {
	b.t.Helper()
	got := b.post("/profile", keyFields(fields...)).want(200, "Copy it now")
	secret, keyID := got.shown()
	return madeKey{page: got, id: keyID, secret: secret, address: "/profile/keys/" + keyID}
}

func keyFields(fields ...string) url.Values {
	form := url.Values{"name": {"bot"}, "permission": {"read"}, "expiry": {"30"}}
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == "guild" {
			form.Set("guild["+fields[i+1]+"]", "on")
		} else {
			form.Set(fields[i], fields[i+1])
		}
	}
	return form
}

func field(name, value string) url.Values { return url.Values{name: {value}} }

// works reports whether the secret belongs to a key, and to which guilds the key has access.
func (s *site) works(secret string) (guilds []id.Guild, ok bool) {
	s.t.Helper()
	keyID, err := apikey.Parse(secret)
	if err != nil {
		s.t.Fatal(err)
	}
	k, err := s.archive.Key(s.t.Context(), keyID)
	if err != nil {
		return nil, false
	}
	return k.GuildIDs, k.Matches(secret, s.clock())
}

func TestKeysNeedASignIn(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	for _, path := range []string{"/profile", "/profile/history", "/profile/keys/abcdefghijkl", "/profile/keys/abcdefghijkl/delete"} {
		b.get(path).want(401, `href="/sign-in?next=`+strings.ToLower(url.QueryEscape(path)[:3])+"profile")
	}
	for _, path := range []string{"", "/keys/abcdefghijkl", "/keys/abcdefghijkl/rotate", "/keys/abcdefghijkl/grant", "/keys/abcdefghijkl/delete"} {
		b.post("/profile"+path, keyFields()).want(401)
	}
	b.get("/sign-in/provider?next=/profile").want(200, "No keys yet", "0 of 25")
}

func TestAKeyIsMadeRenamedRotatedAndDeleted(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	k := b.makeKey("name", " My bot ", "permission", "read_write", "expiry", "7", "guild", string(public))
	if k.header.Get("Cache-Control") != "no-store" || strings.Contains(k.path, k.secret) {
		t.Errorf("the secret's page is at %s with %v, want no-store and no secret in the address", k.path, k.header)
	}
	if guilds, ok := s.works(k.secret); !ok || len(guilds) != 1 || guilds[0] != public {
		t.Errorf("the new key works: %t, in %v, want in %s only", ok, guilds, public)
	}
	list := b.get("/profile").want(200, "<bdi>My bot</bdi>", "lb_"+k.id, "Read and write", "<bdi>Gophers</bdi>", "1 of 25", "<dd>Never</dd>", "created <bdi>My bot</bdi> with access to <bdi>Gophers</bdi>")
	list.lacks(k.secret, "Expires soon")
	b.get(k.address).want(200, "Delete this key").lacks(k.secret)

	still := b.still()
	if got := still.post(k.address, field("name", "Other")).want(303); got.header.Get("Location") != k.address+"?done=renamed" {
		t.Errorf("renaming leads to %s, want the key with done=renamed", got.header.Get("Location"))
	}
	b.get("/profile").want(200, "<bdi>Other</bdi>", "renamed <bdi>My bot</bdi> to <bdi>Other</bdi>")
	b.post(k.address+"/ungrant", field("guild", string(public))).want(200, "Access revoked.", "None yet", "Grant access<span")
	b.post(k.address+"/grant", field("guild", string(public))).want(200, "Access granted.", "Revoke access<span")

	hour := b.post(k.address+"/rotate", field("overlap", "1h")).want(200, "The old secret expires", "You")
	second, _ := hour.shown()
	if _, ok := s.works(k.secret); !ok {
		t.Error("the old secret does not work during the overlap")
	}
	s.pass(61 * time.Minute)
	if _, ok := s.works(k.secret); ok {
		t.Error("the old secret works after the overlap")
	}
	third, _ := b.post(k.address+"/rotate", field("overlap", "none")).want(200, "Old secrets no longer work.").shown()
	if _, ok := s.works(second); ok {
		t.Error("after a rotation without an overlap the old secret works")
	}
	if _, ok := s.works(third); !ok {
		t.Error("the new secret does not work")
	}

	s.use(k.id, 1234)
	b.get(k.address).want(200, "1,234").lacks("<dd>Never</dd>", "Expires soon")
	s.pass(4 * 24 * time.Hour)
	b.get(k.address).want(200, "Expires soon")
	s.pass(3 * 24 * time.Hour)
	b = s.browser() // the session has ended too
	b.signIn()
	b.get("/profile").want(200, "Expired")
	b.get(k.address).want(200, "This key has expired").lacks("Rotate</button>")
	b.post(k.address+"/rotate", field("overlap", "none")).want(409, "This key has expired")

	b.get(k.address+"/delete").want(200, "Delete this key?", "Cancel")
	if _, err := s.archive.Key(t.Context(), k.id); err != nil {
		t.Errorf("the page that asks for confirmation deleted the key: %v", err)
	}
	b.post(k.address+"/delete", nil).want(200, "Key deleted", "No keys yet")
	b.get(k.address).want(404, "You have no key with this ID")
	b.post(k.address+"/delete", nil).want(404)
	history := b.get("/profile/history").want(200, "deleted <bdi>Other</bdi>", "expired immediately", "the old one expires", "revoked access of <bdi>Other</bdi>")
	for _, secret := range []string{k.secret, second, third} {
		history.lacks(secret)
		if strings.Contains(s.log.String(), secret[15:]) {
			t.Error("the log contains a secret")
		}
	}
}

// use counts requests of a key.
func (s *site) use(keyID string, requests int64) {
	s.t.Helper()
	now := s.clock()
	err := s.archive.AddUse(s.t.Context(), apikey.HourOf(now), []apikey.KeyUse{{KeyID: keyID, Requests: requests, LastUsed: now}})
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestAKeyThatNeverExpires(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	b.get(b.makeKey("expiry", "never").address).want(200, "Never")
}

func TestAKeysErrorIsAtItsField(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	const outside = "200000000000000002"
	for name, test := range map[string]struct {
		form url.Values
		want []string
	}{
		"nothing":               {nil, []string{"Nothing was changed", `href="#name"`, `id="name-error"`, `id="permission-error"`, `id="expiry-error"`}},
		"only spaces":           {keyFields("name", " \t "), []string{`aria-describedby="name-hint name-error"`, `aria-invalid="true"`}},
		"nothing to be seen":    {keyFields("name", "\u200b"), []string{`id="name-error"`, "Enter a visible name"}},
		"a name that turns":     {keyFields("name", "\u202etob"), []string{`id="name-error"`, "direction"}},
		"a long name":           {keyFields("name", strings.Repeat("é", 51)), []string{`id="name-error"`, strings.Repeat("é", 51)}},
		"two lines":             {keyFields("name", "a\nb"), []string{`id="name-error"`}},
		"another permission":    {keyFields("permission", "admin"), []string{`id="permission-error"`, `value="bot"`}},
		"another expiry":        {keyFields("expiry", "8"), []string{`id="expiry-error"`}},
		"not a guild":           {keyFields("guild", "x"), []string{`id="guild-error"`}},
		"somebody else's guild": {keyFields("guild", string(public), "guild", outside), []string{"You may grant only guilds that you own or administer.", `name="guild[` + string(public) + `]" value="on" checked`}},
		"what was chosen stays": {keyFields("name", "", "permission", "read_write", "expiry", "365"), []string{`value="read_write" checked`, `value="365" selected`}},
	} {
		t.Run(name, func(t *testing.T) { b.post("/profile", test.form).want(422, test.want...).lacks(`id="secret"`) })
	}
	b.get("/profile").want(200, "0 of 25")

	k := b.makeKey()
	b.post(k.address, field("name", "")).want(422, `id="name-error"`)
	b.post(k.address+"/rotate", field("overlap", "2h")).want(422, `id="overlap-error"`).lacks(`id="secret"`)
	b.post(k.address+"/grant", field("guild", outside)).want(403, "You may grant only guilds")
	b.post(k.address+"/grant", field("guild", "")).want(400)
	b.post(k.address+"/rotate?overlap=none", nil).want(422) // a field in the address does not count
	b.post("/profile", url.Values{"name": {strings.Repeat("a", 65<<10)}}).want(413, "The form is too large")
	b.get("/profile?page=0").want(400)
	b.get("/profile/history?before=x").want(400)
	b.post("/profile", keyFields(), "Origin", "https://evil.example").want(403)
	b.get("/profile").want(200, "1 of 25")
}

// Without JavaScript a browser sends a form twice and shows the second answer.
func TestADoubleClickMakesOneKey(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	form := keyFields("id", b.get("/profile").form().Get("id"))
	first, _ := b.post("/profile", form).want(200, "Copy it now").shown()
	second, _ := b.post("/profile", form).want(200, "Copy it now").shown()
	if _, ok := s.works(second); !ok {
		t.Error("the secret on the second page does not work")
	}
	if _, ok := s.works(first); ok || first[:15] != second[:15] {
		t.Error("the double click made two keys, or the first secret works")
	}
	b.get("/profile").want(200, "1 of 25")
	form.Set("name", "another")
	b.post("/profile", form).want(409, "This form has made a key already.", `value="another"`)
	form.Set("name", "bot")
	s.pass(time.Minute)
	b.post("/profile", form).want(409, "This form has made a key already.")
	if _, ok := s.works(second); !ok {
		t.Error("a repeat of the old form changed the key's secret")
	}
	s.provider.SetUser(map[string]any{"id": "100000000000000002", "username": "eve"}, []any{})
	eve := s.browser()
	eve.get("/sign-in/provider?next=/profile").want(200, "eve")
	eve.post("/profile", form).want(503).lacks(`id="secret"`)
}

func TestKeysOfOthersAreNotThere(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	k := b.makeKey("name", "Ada's", "guild", string(public))
	s.provider.SetUser(map[string]any{"id": "100000000000000002", "username": "eve"}, []any{
		map[string]any{"id": string(public), "name": "Gophers", "owner": true, "permissions": "8"},
	})
	eve := s.browser()
	eve.get("/sign-in/provider?next=/profile").want(200, "eve", "0 of 25").lacks("Ada")
	eve.get(k.address).want(404).lacks("Ada")
	eve.get(k.address + "/delete").want(404).lacks("Ada")
	eve.post(k.address, field("name", "mine")).want(404)
	eve.post(k.address+"/rotate", field("overlap", "none")).want(404).lacks(`id="secret"`)
	eve.post(k.address+"/grant", field("guild", string(public))).want(404)
	eve.post(k.address+"/ungrant", field("guild", string(public))).want(404)
	eve.post(k.address+"/delete", nil).want(404)
	eve.get("/profile/keys/%2e%2e").want(404)
	eve.get("/profile/history").want(200, "No history yet").lacks("Ada")
	if guilds, ok := s.works(k.secret); !ok || len(guilds) != 1 {
		t.Errorf("the key works: %t, in %v, want in one guild", ok, guilds)
	}
}

func TestAnOwnerHasAtMost25Keys(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	for range 25 {
		b.makeKey()
	}
	b.get("/profile").want(200, "25 of 25", "You have reached the maximum.").lacks("Create key")
	b.post("/profile", keyFields()).want(409, "You have 25 keys").lacks(`id="secret"`)
	// The limit does not bind the operator, whose keys are on a second page.
	keyID := apikey.NewID()
	_, hash := apikey.Mint(keyID)
	err := s.archive.CreateKey(t.Context(), apikey.Key{ID: keyID, Hash: hash, Name: "from the operator", OwnerID: ada, Permission: apikey.Read,
		GuildIDs: []id.Guild{closed}, CreatedAt: s.clock().Add(-time.Hour)}, apikey.Operator, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.get("/profile").want(200, "26 of 25", `href="/profile?page=2"`, "The operator")
	b.get("/profile?page=2").want(200, "from the operator", `href="/profile?page=1"`).lacks("page=3")
	b.get("/profile?page=9").want(200, "26 of 25")
	// An owner who does not manage the guild can remove its grant, and cannot add it again.
	operators := "/profile/keys/" + keyID
	b.get(operators).want(200, "by the operator", "<bdi>Moles</bdi>")
	b.post(operators+"/ungrant", field("guild", string(closed))).want(200, "None yet").lacks("<bdi>Moles</bdi>")
	b.post(operators+"/grant", field("guild", string(closed))).want(403)
}

func TestAnOwnerWhoLosesAGuildLosesItsGrants(t *testing.T) {
	s := newSite(t, options{})
	who := map[string]any{"id": ada, "username": "ada", "global_name": "Ada L."}
	in := func(id string, permissions any) map[string]any {
		return map[string]any{"id": id, "name": "x", "permissions": permissions}
	}
	s.provider.SetUser(who, []any{in(string(public), "8"), in(string(closed), "8")})
	b := s.browser()
	b.signIn()
	k := b.makeKey("guild", string(public), "guild", string(closed))
	wantGuilds := func(what string, want int) {
		t.Helper()
		if guilds, _ := s.works(k.secret); len(guilds) != want {
			t.Errorf("%s: the key works in %v, want %d guilds", what, guilds, want)
		}
	}
	later := func() page { s.pass(6 * time.Minute); return b.get("/profile") }
	s.provider.Fail(500)
	later().want(200)
	wantGuilds("the provider fails", 2)
	s.provider.Fail(0)
	for what, guilds := range map[string]any{
		"no list":              nil,
		"not an id":            []any{in(string(closed), "8"), in("x", "8")},
		"a garbled permission": []any{in(string(closed), "8"), in(string(public), "eight")},
	} {
		s.provider.SetUser(who, guilds)
		later().want(200)
		wantGuilds(what, 2)
	}
	s.provider.SetUser(who, []any{in(string(closed), "8"), in(string(public), "0")})
	later().want(200, "Levelboard", "revoked access of <bdi>bot</bdi> to <bdi>Gophers</bdi>")
	wantGuilds("a member only", 1)
	b.get(k.address).want(200, "<bdi>Moles</bdi>").lacks("<bdi>Gophers</bdi>")
	b.post(k.address+"/grant", field("guild", string(public))).want(403)
	// A sign-in updates the guilds as a refresh does.
	s.provider.SetUser(who, []any{})
	s.browser().get("/sign-in/provider?next=/").want(200)
	wantGuilds("no communities", 0)
}

func TestAUserWithoutACommunityIsHelped(t *testing.T) {
	s := newSite(t, options{locals: []signin.Local{{User: signin.User{ID: ada, Name: "Ada"}}}})
	const help = "None of your communities is set up here"
	s.provider.SetUser(map[string]any{"id": ada, "username": "ada"}, []any{map[string]any{"id": string(public), "permissions": "0"}})
	b := s.browser()
	b.get("/sign-in/provider?next=/profile").want(200, "Your boards", "Your data").lacks("Create key", "API keys of", help) // only managers have keys
	b.get(b.makeKey().address).want(200, "None yet", "None of the communities that you own or administer is set up here")

	s.provider.SetUser(map[string]any{"id": ada, "username": "ada"}, []any{map[string]any{"id": "200000000000000009", "owner": true}})
	b = s.browser()
	b.get("/sign-in/provider?next=/profile").want(200, help, "You own or administer 1 community, but none")
	// A guild that only the provider knows cannot be granted.
	b.post("/profile", keyFields("guild", "200000000000000009")).want(422, "not known here", `id="guild-error"`)
	// When the provider does not answer, the page says nothing about the user's guilds.
	s.provider.Fail(500)
	s.pass(20 * time.Minute)
	b.get("/profile").want(200, "know which communities are yours").lacks(help)
}
