package testenv

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// OAuthServer is a real OAuth 2.0 provider on a loopback port, like Discord's: authorization code with PKCE, refresh tokens that can be used
// once, and the user's identity and guilds under /api. It signs everyone in as the user of SetUser, if the request comes from the
// registered client.
type OAuthServer struct {
	ClientID, ClientSecret string

	server *httptest.Server

	mu       sync.Mutex
	redirect string
	user     any
	guilds   any
	status   int               // the status that /api and /token answer; 0 for the normal answers
	blocked  int               // the status that /api alone answers, with a page; 0 for the normal answers
	codes    map[string]string // code to its challenge
	access   map[string]bool
	refresh  map[string]bool
	asked    int // number of requests to /api/users/@me
	renewed  int
}

// OAuth starts a provider. It redirects nobody back before Register is called, and stops when the test ends.
func OAuth(tb testing.TB) *OAuthServer {
	tb.Helper()
	s := &OAuthServer{
		ClientID: "client-" + rand.Text(), ClientSecret: rand.Text(),
		codes: map[string]string{}, access: map[string]bool{}, refresh: map[string]bool{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("GET /api/users/@me", s.resource(func() any { s.asked++; return s.user }))
	mux.HandleFunc("GET /api/users/@me/guilds", s.resource(func() any { return s.guilds }))
	s.server = httptest.NewServer(mux)
	tb.Cleanup(s.server.Close)
	return s
}

// Environ returns the settings of a service that uses this provider.
func (s *OAuthServer) Environ() []string {
	return []string{
		"LEVELBOARD_OAUTH_CLIENT_ID=" + s.ClientID, "LEVELBOARD_OAUTH_CLIENT_SECRET=" + s.ClientSecret,
		"LEVELBOARD_OAUTH_AUTH_URL=" + s.AuthURL(), "LEVELBOARD_OAUTH_TOKEN_URL=" + s.TokenURL(), "LEVELBOARD_OAUTH_API_URL=" + s.APIURL(),
	}
}

// AuthURL returns the address for signing in.
func (s *OAuthServer) AuthURL() string { return s.server.URL + "/authorize" }

// TokenURL returns the address for redeeming codes and refresh tokens.
func (s *OAuthServer) TokenURL() string { return s.server.URL + "/token" }

// APIURL returns the base address of the user and their guilds.
func (s *OAuthServer) APIURL() string { return s.server.URL + "/api" }

// Register sets the only redirect address.
func (s *OAuthServer) Register(redirect string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.redirect = redirect
}

// SetUser sets who signs in from now on. /api answers with both values as JSON.
func (s *OAuthServer) SetUser(user, guilds any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user, s.guilds = user, guilds
}

// Fail makes /token and /api answer this status, until Fail(0).
func (s *OAuthServer) Fail(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

// Block makes /api answer this status with a page instead of JSON, as a firewall does, until Block(0). /token continues.
func (s *OAuthServer) Block(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocked = status
}

// Hold makes the provider hang until release is called.
func (s *OAuthServer) Hold() (release func()) {
	s.mu.Lock()
	return s.mu.Unlock
}

// ExpireAccess makes all access tokens invalid. Refresh tokens still work.
func (s *OAuthServer) ExpireAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Revoke revokes all access that users gave.
func (s *OAuthServer) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.refresh)
}

// Counts returns how often users were requested, and how often access was renewed.
func (s *OAuthServer) Counts() (asked, renewed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked, s.renewed
}

func (s *OAuthServer) authorize(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	switch {
	case q.Get("client_id") != s.ClientID, q.Get("redirect_uri") != s.redirect:
		http.Error(w, "unknown client or redirect "+q.Get("redirect_uri"), http.StatusBadRequest)
		return
	case q.Get("response_type") != "code", q.Get("scope") != "identify guilds", q.Get("state") == "",
		q.Get("code_challenge_method") != "S256", len(q.Get("code_challenge")) != 43:
		http.Error(w, "not a request for a code with PKCE: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	code := rand.Text()
	s.codes[code] = q.Get("code_challenge")
	http.Redirect(w, r, s.redirect+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
}

func (s *OAuthServer) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, secret, ok := r.BasicAuth()
	if !ok {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	switch {
	case s.status != 0:
		w.WriteHeader(s.status)
	case id != s.ClientID || secret != s.ClientSecret:
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
	case r.PostFormValue("grant_type") == "authorization_code" && s.redeem(r) || r.PostFormValue("grant_type") == "refresh_token" && s.renew(r):
		access, refresh := rand.Text(), rand.Text()
		s.access[access], s.refresh[refresh] = true, true
		answer(w, http.StatusOK, map[string]any{
			"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 604800, "scope": "identify guilds",
		})
	default:
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
	}
}

func (s *OAuthServer) redeem(r *http.Request) bool {
	code := r.PostFormValue("code")
	challenge, ok := s.codes[code]
	delete(s.codes, code)
	digest := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	return ok && base64.RawURLEncoding.EncodeToString(digest[:]) == challenge && r.PostFormValue("redirect_uri") == s.redirect
}

func (s *OAuthServer) renew(r *http.Request) bool {
	token := r.PostFormValue("refresh_token")
	ok := s.refresh[token]
	delete(s.refresh, token)
	if ok {
		s.renewed++
	}
	return ok
}

func (s *OAuthServer) resource(read func() any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case s.status != 0:
			w.WriteHeader(s.status)
		case s.blocked != 0:
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(s.blocked)
			_, _ = w.Write([]byte("<!doctype html><title>You have been blocked</title>"))
		case !s.access[token]:
			answer(w, http.StatusUnauthorized, map[string]string{"message": "401: Unauthorized"})
		default:
			answer(w, http.StatusOK, read())
		}
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
