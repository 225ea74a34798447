package web_test

import (
	"context"
	"fmt"
	"testing"

	"levelboard/internal/store/redisstore"
	"levelboard/internal/usecase/signin"
)

// countingSignIn counts how often the provider is asked for a code, and can be too busy for it.
type countingSignIn struct {
	*signin.Sessions
	entered int
	busy    bool
}

func (s *countingSignIn) Enter(ctx context.Context, code, verifier string) (string, error) {
	s.entered++
	if s.busy {
		return "", signin.ErrBusy
	}
	return s.Sessions.Enter(ctx, code, verifier)
}

// counting wraps the sessions of a site that newSite builds.
func counting(into **countingSignIn) func(s *site, _ *redisstore.Store) {
	return func(s *site, _ *redisstore.Store) {
		*into = &countingSignIn{Sessions: s.sessions}
		s.deps.SignIn = *into
	}
}

// begun returns the cookie of a new sign-in and a callback with a made-up code.
func (s *site) begun() (cookie, callback string) {
	const flow = "ends=99999999999&next=%2F&state=AAAAAAAAAAAA&verifier=v"
	return "__Host-levelboard-sign-in-AAAAAAAA=" + flow, "/sign-in/callback?state=AAAAAAAAAAAA&code=made-up"
}

// An address can make us send our client secret to the provider only a few times a minute, with any cookies and codes.
func TestSignInsOfAnAddressAreLimited(t *testing.T) {
	const most = 20 // as docs/sign-in.md says
	var enters *countingSignIn
	s := newSite(t, options{with: counting(&enters)})
	cookie, callback := s.begun()
	b := s.browser()
	refused := 0
	for n := range 3 * most {
		got := b.get(callback, "Cookie", cookie, "X-Forwarded-For", fmt.Sprintf("2001:db8::%x", n+1))
		switch got.status {
		case 401:
			got.want(401, "This sign-in has expired")
		default:
			got.want(429, "too many sign-ins")
			if got.header.Get("Retry-After") == "" {
				t.Error("the refusal has no Retry-After")
			}
			refused++
		}
	}
	// The limit refills one every three seconds, so a slow machine lets a few more pass.
	if enters.entered+refused != 3*most || enters.entered < most || refused == 0 {
		t.Errorf("%d codes were sent to the provider and %d refused, want at least %d and some of %d", enters.entered, refused, most, 3*most)
	}
	// Pages still work for the address, and users at other addresses sign in.
	b.get("/leaderboard/gophers", "X-Forwarded-For", "2001:db8::1").want(200)
	s.browser().signIn()
}

func TestABusySignInSaysToBeginAgain(t *testing.T) {
	var enters *countingSignIn
	s := newSite(t, options{with: counting(&enters)})
	enters.busy = true
	got := s.browser().get("/sign-in/provider?next=/leaderboard/gophers").want(503, "Try again in a few seconds", `href="/sign-in?next=%2fleaderboard%2fgophers"`)
	if got.header.Get("Retry-After") == "" {
		t.Error("the refusal has no Retry-After")
	}
	enters.busy = false
	s.browser().signIn()
}
