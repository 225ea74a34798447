package web_test

import (
	"strings"
	"testing"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/signin"
)

func TestSigningOutEverywhere(t *testing.T) {
	s := newSite(t, options{})
	phone, desk := s.browser(), s.browser()
	phone.signIn()
	desk.signIn()
	s.provider.SetUser(map[string]any{"id": "100000000000000002", "username": "Bob"}, []any{})
	bob := s.browser()
	bob.get("/sign-in/provider").want(200, "Bob")

	phone.post("/sign-out/everywhere", nil).want(200)
	phone.get("/").lacks("Ada L.")
	desk.get("/").want(200).lacks("Ada L.")
	bob.get("/").want(200, "Bob")
}

func TestSigningInAgainEndsTheOldSession(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	first := b.cookie("__Host-levelboard")
	b.signIn()
	if b.cookie("__Host-levelboard") == first {
		t.Error("the new session has the secret of the old one")
	}
	s.browser().get("/", "Cookie", "__Host-levelboard="+first).want(200).lacks("Ada L.")
}

func TestASessionEnds(t *testing.T) {
	s := newSite(t, options{})
	idle := s.browser()
	idle.signIn()
	s.pass(signin.IdleTime - time.Minute)
	idle.get("/").want(200, "Ada L.")
	s.pass(signin.IdleTime + time.Minute)
	if got := idle.get("/").want(200).lacks("Ada L."); !strings.Contains(got.header.Get("Set-Cookie"), "__Host-levelboard=;") {
		t.Error("the answer does not delete the cookie of an expired session")
	}

	used := s.browser()
	used.signIn()
	for began := s.clock(); s.clock().Sub(began) < signin.LifeTime-signin.IdleTime/2; s.pass(signin.IdleTime / 2) {
		used.get("/").want(200, "Ada L.")
	}
	s.pass(signin.IdleTime / 2)
	used.get("/").want(200).lacks("Ada L.")
}

func TestMadeUpSessionsAreIgnored(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	good := b.cookie("__Host-levelboard")
	for _, value := range []string{"x", strings.Repeat("A", 43), good[:42], good + "A", strings.ToUpper(good), strings.Repeat("A", 5000)} {
		s.browser().get("/", "Cookie", "__Host-levelboard="+value).want(200).lacks("Ada L.")
	}
}

func TestRightsFollowTheProvider(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	s.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": "Ada L."}, []any{
		map[string]any{"id": string(public), "name": "Gophers", "owner": false, "permissions": "7"},
	})
	s.pass(signin.ConfirmTime - time.Second)
	b.get("/leaderboard/gophers").want(200, "You manage this")
	s.pass(2 * time.Second)
	b.get("/leaderboard/gophers").want(200, "Ada L.").lacks("You manage this")

	s.provider.SetUser(map[string]any{"id": ada, "username": "ada", "global_name": "Ada L."}, []any{
		map[string]any{"id": string(public), "name": "Gophers", "owner": true, "permissions": "0"},
	})
	s.provider.ExpireAccess()
	s.pass(signin.ConfirmTime + time.Second)
	b.get("/leaderboard/gophers").want(200, "You manage this")
	if _, renewed := s.provider.Counts(); renewed != 1 {
		t.Errorf("access was renewed %d times, want once", renewed)
	}
}

func TestRightsExpireWhenTheProviderIsDown(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	s.provider.Fail(503)
	s.pass(signin.ConfirmTime + time.Second)
	b.get("/leaderboard/gophers").want(200, "You manage this")
	b.get("/leaderboard/gophers").want(200, "You manage this")
	s.pass(signin.RightsTime - signin.ConfirmTime)
	b.get("/leaderboard/gophers").want(200, "Ada L.", "reach your sign-in provider").lacks("You manage this")
	// Rights in the guild's own settings do not need the provider.
	s.guilds[public].AdminIDs = append(s.guilds[public].AdminIDs, ada)
	b.get("/leaderboard/gophers").want(200, "You manage this")
	s.guilds[public].AdminIDs = nil
	s.provider.Fail(0)
	s.pass(time.Minute + time.Second)
	b.get("/leaderboard/gophers").want(200, "You manage this").lacks("reach your sign-in provider")
}

// A firewall in front of the provider answers 403 to everybody, which does not mean that the user revoked access.
func TestABlockedAPIDoesNotEndSessions(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	secret := b.cookie("__Host-levelboard")
	s.provider.Block(403)
	s.pass(signin.ConfirmTime + time.Second)
	b.get("/leaderboard/gophers").want(200, "You manage this")
	s.pass(signin.IdleTime - signin.ConfirmTime - 30*time.Second) // access, which lasts a week, is about to expire
	b.get("/leaderboard/gophers").want(200, "Ada L.", "reach your sign-in provider").lacks("You manage this")
	if _, renewed := s.provider.Counts(); renewed != 1 {
		t.Errorf("access was renewed %d times, want once", renewed)
	}
	s.browser().get("/sign-in/provider").want(503, "Sign-in is temporarily unavailable")
	s.pass(time.Minute + time.Second)
	s.provider.Block(0)
	b.get("/leaderboard/gophers").want(200, "You manage this").lacks("reach your sign-in provider")
	if b.cookie("__Host-levelboard") != secret {
		t.Error("the browser has another session, want the old one")
	}
	if log := s.log.String(); !strings.Contains(log, "the provider answered 403") {
		t.Errorf("the log does not say that the provider answered 403: %s", log)
	}
}

func TestAUserWhoRevokesAccessIsSignedOut(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	s.provider.Revoke()
	b.get("/").want(200, "Ada L.")
	s.pass(signin.ConfirmTime + time.Second)
	b.get("/").want(200).lacks("Ada L.")
}

// A refresh token can be used once, so only one of many concurrent requests may use it.
func TestManyRequestsAtOnceRenewOnce(t *testing.T) {
	s := newSite(t, options{})
	b := s.browser()
	b.signIn()
	secret := b.cookie("__Host-levelboard")
	s.provider.ExpireAccess()
	s.pass(signin.ConfirmTime + time.Second)
	release := s.provider.Hold()
	answers := make(chan error, 20)
	for range cap(answers) {
		go func() {
			_, err := s.sessions.Find(t.Context(), secret)
			answers <- err
		}()
	}
	// All requests but the one that renews use the rights that are known.
	for n := range cap(answers) {
		if n == cap(answers)-1 {
			release()
		}
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	if asked, renewed := s.provider.Counts(); renewed != 1 || asked != 2 {
		t.Errorf("access was renewed %d times and asked for %d times, want 1 and 2", renewed, asked)
	}
	b.get("/").want(200, "Ada L.")
}

func TestManagersAreOwnersAndAdministrators(t *testing.T) {
	g := &guild.Guild{Settings: guild.Settings{ID: public, OwnerID: "900000000000000001", Visibility: guild.Private}}
	for _, test := range []struct {
		name            string
		session         *signin.Session
		manages, member bool
	}{
		{"nobody", nil, false, false},
		{"a member", &signin.Session{User: signin.User{ID: ada}, Guilds: []signin.Guild{{ID: public}}}, false, true},
		{"an administrator", &signin.Session{User: signin.User{ID: ada}, Guilds: []signin.Guild{{ID: public, Administrator: true}}}, true, true},
		{"an owner", &signin.Session{User: signin.User{ID: ada}, Guilds: []signin.Guild{{ID: public, Owner: true}}}, true, true},
		{"an owner of another", &signin.Session{User: signin.User{ID: ada}, Guilds: []signin.Guild{{ID: closed, Owner: true}}}, false, false},
		{"an owner by the settings", &signin.Session{User: signin.User{ID: "900000000000000001"}}, true, true},
	} {
		if got := test.session.Manages(g); got != test.manages {
			t.Errorf("%s manages the guild: %v, want %v", test.name, got, test.manages)
		}
		if got := test.session.MayRead(g); got != test.member {
			t.Errorf("%s may read the guild: %v, want %v", test.name, got, test.member)
		}
	}
}
