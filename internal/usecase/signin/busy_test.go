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

// slowToken is a provider that refuses every code, but only once the test says so. Its API answers at once.
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

// Made-up codes at a slow provider delay neither the provider nor other users' sessions.
func TestConcurrentSignInsAreBounded(t *testing.T) {
	const most = 8 // as docs/sign-in.md says
	p, asked, answer := slowToken(t)
	s := signin.NewSessions(nil, signin.Options{Provider: p, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	var entering sync.WaitGroup
	enter := func() {
		if _, err := s.Enter(t.Context(), "made-up", verifier); !errors.Is(err, signin.ErrRefused) {
			t.Errorf("a made-up code: %v, want signin.ErrRefused", err)
		}
	}
	for range most {
		entering.Go(enter)
	}
	for range most {
		<-asked
	}
	if _, err := s.Enter(t.Context(), "made-up", verifier); !errors.Is(err, signin.ErrBusy) {
		t.Errorf("one sign-in too many: %v, want signin.ErrBusy", err)
	}
	if len(asked) != 0 {
		t.Error("one sign-in too many was sent to the provider")
	}
	if _, err := p.Identify(t.Context(), signin.Token{AccessToken: "a"}); err != nil {
		t.Errorf("confirming a session meanwhile: %v, want none", err)
	}
	answer()
	entering.Wait()
	enter()
}
