package signin_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"levelboard/internal/testing/testenv"
	"levelboard/internal/usecase/signin"
)

const verifier = "a-verifier-of-forty-three-characters-at-least"

// provider connects to a server whose test chose whom to let in.
func provider(t *testing.T, s *testenv.OAuthServer) *signin.Provider {
	t.Helper()
	s.Register("http://127.0.0.1/back")
	p := signin.NewProvider(signin.ProviderOptions{
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, AuthURL: s.AuthURL(), TokenURL: s.TokenURL(), APIURL: s.APIURL(),
		RedirectURL: "http://127.0.0.1/back",
	})
	t.Cleanup(p.Close)
	return p
}

// code gets a code as a browser does.
func code(t *testing.T, p *signin.Provider) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Get(p.Address("state", verifier))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	back, err := url.Parse(answer.Header.Get("Location"))
	if err != nil || back.Query().Get("code") == "" || back.Query().Get("state") != "state" {
		t.Fatalf("the provider redirects to %q (%v), want a code and the state", answer.Header.Get("Location"), err)
	}
	return back.Query().Get("code")
}

func TestACodeNeedsItsVerifier(t *testing.T) {
	s := testenv.OAuth(t)
	p := provider(t, s)
	if _, err := p.Redeem(t.Context(), code(t, p), verifier+"x"); !errors.Is(err, signin.ErrRefused) {
		t.Errorf("a code with another verifier: %v, want signin.ErrRefused", err)
	}
	if _, err := p.Redeem(t.Context(), code(t, p), verifier); err != nil {
		t.Errorf("a code with its verifier: %v, want none", err)
	}
}

func TestInvalidDataOfTheProviderIsLeftOut(t *testing.T) {
	s := testenv.OAuth(t)
	p := provider(t, s)
	long := strings.Repeat("é", 1000)
	s.SetUser(map[string]any{"id": "100000000000000001", "username": "ada", "global_name": long, "avatar": `x" onload="`}, []any{
		map[string]any{"id": "200000000000000001", "name": "member", "permissions": "2147483639"},
		map[string]any{"id": "200000000000000002", "name": "administrator", "permissions": "8"},
		map[string]any{"id": "200000000000000003", "name": "administrator by a number", "permissions": 9},
		map[string]any{"id": "200000000000000004", "name": "owner", "owner": true},
		map[string]any{"id": "200000000000000005", "name": "garbled", "permissions": "-8"},
		map[string]any{"id": "200000000000000006", "name": "above 64 bits", "permissions": "99999999999999999999"},
		map[string]any{"id": "not an id", "name": "nobody", "owner": true},
	})
	token, err := p.Redeem(t.Context(), code(t, p), verifier)
	if err != nil {
		t.Fatal(err)
	}
	who, err := p.Identify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	user, guilds := who.User, who.Guilds
	if who.Complete {
		t.Error("an answer with parts left out counts as complete")
	}
	if user.Avatar != "" || len(user.Name) > 256 || !strings.HasPrefix(long, user.Name) || user.Name == "" {
		t.Errorf("the user is %+v, want no avatar and a name cut to 256 bytes", user)
	}
	var managed []string
	for _, g := range guilds {
		if g.Manages() {
			managed = append(managed, g.Name)
		}
	}
	if want := "[administrator administrator by a number owner]"; fmt.Sprint(managed) != want || len(guilds) != 6 {
		t.Errorf("the user manages %v of %d guilds, want %v of 6", managed, len(guilds), want)
	}

	s.SetUser(map[string]any{"id": "1", "username": "short"}, []any{})
	if _, err := p.Identify(t.Context(), token); err == nil || errors.Is(err, signin.ErrRefused) {
		t.Errorf("a user without an id: %v, want an error that is no refusal", err)
	}
}

// A refusal signs the user out, so only what RFC 6749 and RFC 6750 call a refusal counts as one.
func TestOnlyStandardRefusalsCount(t *testing.T) {
	const page, grant = "<!doctype html><title>Blocked</title>", `{"error":"invalid_grant"}`
	for _, test := range []struct {
		status               int
		body                 string
		ofAccess, ofIdentity bool // a refusal from the token endpoint, and from the API
	}{
		{400, grant, true, false},
		{401, grant, true, true},
		{401, page, false, true},
		{400, page, false, false},
		{400, "", false, false},
		{400, `{"error":"invalid_request"}`, false, false},
		{400, `{"error":"unauthorized_client"}`, false, false},
		{403, grant, true, false},
		{403, page, false, false},
		{403, `{"message":"Missing Access","code":50001}`, false, false},
		{404, page, false, false},
		{429, grant, false, false},
		{503, grant, false, false},
	} {
		t.Run(fmt.Sprint(test.status, test.body), func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			t.Cleanup(s.Close)
			p := signin.NewProvider(signin.ProviderOptions{ClientID: "c", ClientSecret: "s", TokenURL: s.URL, APIURL: s.URL})
			t.Cleanup(p.Close)
			_, redeem := p.Redeem(t.Context(), "code", verifier)
			_, renew := p.Renew(t.Context(), signin.Token{RefreshToken: "r"})
			_, identify := p.Identify(t.Context(), signin.Token{AccessToken: "a"})
			for what, got := range map[string]struct {
				err     error
				refused bool
			}{"redeem": {redeem, test.ofAccess}, "renew": {renew, test.ofAccess}, "identify": {identify, test.ofIdentity}} {
				if got.err == nil || errors.Is(got.err, signin.ErrRefused) != got.refused {
					t.Errorf("%s: %v, want a refusal: %v", what, got.err, got.refused)
				}
			}
		})
	}
}

func TestARedirectDoesNotGetTheToken(t *testing.T) {
	asked := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(elsewhere.Close)
	moved := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(moved.Close)
	p := signin.NewProvider(signin.ProviderOptions{ClientID: "c", ClientSecret: "s", TokenURL: moved.URL, APIURL: moved.URL})
	t.Cleanup(p.Close)
	if _, err := p.Identify(t.Context(), signin.Token{AccessToken: "a"}); err == nil {
		t.Error("a redirect counts as the API's answer")
	}
	if _, err := p.Redeem(t.Context(), "code", verifier); err == nil {
		t.Error("a redirect counts as a token")
	}
	if asked {
		t.Error("the redirect was followed")
	}
}

func TestErrorsAndTokensShowNoSecret(t *testing.T) {
	leaky := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"access_token":"SECRET"}`))
	}))
	t.Cleanup(leaky.Close)
	p := signin.NewProvider(signin.ProviderOptions{ClientID: "c", ClientSecret: "SECRET", TokenURL: leaky.URL, APIURL: leaky.URL})
	t.Cleanup(p.Close)
	token := signin.Token{AccessToken: "SECRET", RefreshToken: "SECRET"}
	_, redeem := p.Redeem(t.Context(), "SECRET", verifier)
	_, renew := p.Renew(t.Context(), token)
	_, identify := p.Identify(t.Context(), token)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("a", "token", token, "errors", []error{redeem, renew, identify})
	if text := log.String() + fmt.Sprintf("%v %+v %#v %s %v %v %v", token, token, token, token, redeem, renew, identify); strings.Contains(text, "SECRET") {
		t.Errorf("an error, a token or the log contains a secret: %s", text)
	}
	if encoded, err := json.Marshal(token); err != nil || !strings.Contains(string(encoded), "SECRET") {
		t.Errorf("the token to be sealed is encoded as %s (%v), want it with its secret", encoded, err)
	}
}
