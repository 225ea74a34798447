package app_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
)

var keyShown = regexp.MustCompile(`lb_[0-9A-Za-z]{50}`)

// profileOf is the profile of somebody who signed in to the service.
type profileOf struct {
	t       *testing.T
	s       *service
	browser *http.Client
}

// do sends a form and returns the page that it led to.
func (p *profileOf) do(path, form string, status int) string {
	p.t.Helper()
	got, text := visit(p.t, p.browser, "POST", p.s.app.URL()+path, form)
	if got != status {
		p.t.Fatalf("%s %s: %d, want %d\n%s", path, form, got, status, text)
	}
	return text
}

// secret sends a form that is answered with a key.
func (p *profileOf) secret(path, form string) string {
	p.t.Helper()
	secret := keyShown.FindString(p.do(path, form, 200))
	if secret == "" {
		p.t.Fatalf("%s shows no key", path)
	}
	return secret
}

func (p *profileOf) signIn() {
	p.t.Helper()
	p.browser = newBrowser(p.t)
	if status, text := visit(p.t, p.browser, "GET", p.s.app.URL()+"/sign-in/provider?next=/profile", ""); status != 200 || !strings.Contains(text, "Your API keys") {
		p.t.Fatalf("%d %s", status, text)
	}
}

func TestAKeyFromTheProfileWorks(t *testing.T) {
	t.Parallel()
	environ := onServers(t)
	provider := testenv.OAuth(t)
	s := start(t, append(environ, provider.Environ()...)...)
	provider.Register(s.app.URL() + "/sign-in/callback")
	g, u := s.guild(object{"visibility": "private"}), newID()
	who := object{"id": newID(), "username": "ada"}
	provider.SetUser(who, []object{{"id": g, "name": "Gophers", "owner": true, "permissions": "0"}})
	p := &profileOf{t: t, s: s}
	p.signIn()

	k := p.secret("/profile", "name=bot&permission=read_write&expiry=7&guild="+g)
	address := "/profile/keys/" + k[3:15]
	s.create(k, g, u, 100)
	guild := url.Values{"guild": {g}}.Encode()
	p.do(address+"/ungrant", guild, 200)
	s.Do("GET", memberPath(g, u), k, nil).Want(t, 403)
	p.do(address+"/grant", guild, 200)
	s.Do("GET", memberPath(g, u), k, nil).Want(t, 200)

	second := p.secret(address+"/rotate", "overlap=24h")
	for _, secret := range []string{k, second} {
		s.Do("GET", memberPath(g, u), secret, nil).Want(t, 200)
	}
	third := p.secret(address+"/rotate", "overlap=none")
	for _, secret := range []string{k, second} {
		s.Do("GET", memberPath(g, u), secret, nil).Want(t, 401)
	}
	s.patch(third, g, u, 200)

	// A key to read does not write.
	reader := p.secret("/profile", "name=reader&permission=read&expiry=never&guild="+g)
	s.Do("GET", memberPath(g, u), reader, nil).Want(t, 200)
	s.Do("PATCH", memberPath(g, u), reader, object{"xp": 1}).Want(t, 403)

	// Whoever is an owner no more has keys that do not work there any more.
	provider.SetUser(who, []object{{"id": g, "name": "Gophers", "owner": false, "permissions": "0"}})
	p.signIn()
	s.Do("GET", memberPath(g, u), third, nil).Want(t, 403)
	p.do(address+"/grant", guild, 403)

	p.do(address+"/delete", "", 200)
	s.Do("GET", memberPath(g, u), third, nil).Want(t, 401)
	p.do(address+"/delete", "", 404)
}
