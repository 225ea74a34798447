package signin_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"levelboard/internal/usecase/signin"
)

// slowToken is a provider that takes no code, and that only when the test says so; its API answers at once.
func slowToken(t *testing.T) (p *signin.Provider, asked chan struct{}, answer func()) {
	t.Helper()
	asked, release := make(chan struct{}, 100), make(chan struct{})
	answer = sync.OnceFunc(func() { close(release) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/token":
			asked <- struct{}{}
			<-release
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
		case "/api/users/@me":
			_, _ = io.WriteString(w, `{"id":"100000000000000001","username":"ada"}`)
		default:
			_, _ = io.WriteString(w, `[]`)
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(answer)
	p = signin.NewProvider(signin.ProviderOptions{ClientID: "c", ClientSecret: "s", AuthURL: server.URL, TokenURL: server.URL + "/token", APIURL: server.URL + "/api"})
	t.Cleanup(p.Close)
	return p, asked, answer
}

// Codes that somebody made up, at a provider that is slow, hold up neither it nor the sessions of others.
func TestAFewSignInAtTheSameTime(t *testing.T) {
	const most = 8 // as docs/sign-in.md says
	p, asked, answer := slowToken(t)
	s := signin.NewSessions(nil, signin.Options{Provider: p, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	var entering sync.WaitGroup
	enter := func() {
		if _, err := s.Enter(t.Context(), "made-up", verifier); !errors.Is(err, signin.ErrRefused) {
			t.Errorf("a code that was made up: %v", err)
		}
	}
	for range most {
		entering.Go(enter)
	}
	for range most {
		<-asked
	}
	if _, err := s.Enter(t.Context(), "made-up", verifier); !errors.Is(err, signin.ErrBusy) {
		t.Errorf("one too many: %v", err)
	}
	if len(asked) != 0 {
		t.Error("the provider was asked for one too many")
	}
	if _, err := p.Identify(t.Context(), signin.Token{AccessToken: "a"}); err != nil {
		t.Errorf("meanwhile a session cannot be confirmed: %v", err)
	}
	answer()
	entering.Wait()
	enter()
}
