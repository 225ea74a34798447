package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/apikey"
	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/endless"
	"levelboard/internal/http/shares"
)

// bodyOf is a request to send messages to benchGuild, with a body of that many bytes, which ends after requestTime.
func bodyOf(t *testing.T, length int64, key apikey.Key) (c *gin.Context, end func()) {
	ctx, end := context.WithTimeout(t.Context(), requestTime)
	ctx = context.WithValue(ctx, endless.RequestKey{}, &state{caller: caller{key: &key}})
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(""))
	r.ContentLength = length
	return &gin.Context{Request: r}, end
}

var (
	writer = apikey.Key{Permission: apikey.ReadWrite, GuildIDs: []id.Guild{benchGuild}}
	// idle are keys whose large bodies are for nothing.
	idle = map[string]apikey.Key{
		"without a grant": {Permission: apikey.ReadWrite},
		"for reading":     {Permission: apikey.Read, GuildIDs: []id.Guild{benchGuild}},
	}
)

func TestLargeBodiesWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &API{largeBodies: make(chan struct{}, 2), senders: shares.NewPerCaller(largeBodiesOfOwner)}
		hold := func(length int64) (func(), error) {
			c, end := bodyOf(t, length, writer)
			defer end()
			return a.holdLargeBody(c, benchGuild)
		}
		must := func(length int64) func() {
			t.Helper()
			free, err := hold(length)
			if err != nil {
				t.Fatalf("a body of %d bytes: %v", length, err)
			}
			return free
		}
		freeUnknown, freeLarge := must(-1), must(maxBody+1)
		must(maxBody)() // small ones need no room
		must(0)()

		began := time.Now()
		if _, err := hold(maxBody + 1); !fault.Is(err, fault.Unavailable) || time.Since(began) != requestTime {
			t.Errorf("one too many got %v after %v", err, time.Since(began))
		}
		waited := make(chan func())
		go func() { waited <- must(maxMessagesBody) }()
		synctest.Wait()
		freeLarge()
		(<-waited)()
		freeUnknown()
		if n := len(a.largeBodies); n != 0 {
			t.Errorf("room for %d is not given back", n)
		}
	})
}

// Large bodies of those who will be refused wait for each other, and nobody else for them.
func TestLargeBodiesThatWillBeRefusedTakeNobodysPlace(t *testing.T) {
	for name, key := range idle {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &API{largeBodies: make(chan struct{}, 1), refusedBodies: make(chan struct{}, 2), senders: shares.NewPerCaller(1)}
				hold := func(key apikey.Key) (func(), error) {
					c, end := bodyOf(t, maxMessagesBody, key)
					defer end()
					return a.holdLargeBody(c, benchGuild)
				}
				var frees []func()
				for range 2 {
					free, err := hold(key)
					if err != nil {
						t.Fatal(err)
					}
					frees = append(frees, free)
				}
				if _, err := hold(key); !fault.Is(err, fault.Unavailable) {
					t.Errorf("one too many of them got %v", err)
				}
				free, err := hold(writer)
				if err != nil {
					t.Fatalf("one who may write finds no room: %v", err)
				}
				for _, free := range append(frees, free) {
					free()
				}
				if n := len(a.largeBodies) + len(a.refusedBodies); n != 0 {
					t.Errorf("room for %d is not given back", n)
				}
			})
		})
	}
}

// Who sends many large bodies slowly takes the places of no other owner, whose bodies go on.
func TestLargeBodiesOfOneOwnerLeavePlacesToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &API{largeBodies: make(chan struct{}, largeBodies), senders: shares.NewPerCaller(largeBodiesOfOwner)}
		hold := func(owner id.User) (func(), error) {
			key := writer
			key.OwnerID = owner
			c, end := bodyOf(t, maxMessagesBody, key)
			defer end()
			return a.holdLargeBody(c, benchGuild)
		}
		var frees []func()
		for range largeBodiesOfOwner {
			free, err := hold("100000000000000001")
			if err != nil {
				t.Fatal(err)
			}
			frees = append(frees, free)
		}
		began := time.Now()
		if _, err := hold("100000000000000001"); !fault.Is(err, fault.RateLimited) || fault.From(err).RetryAfter <= 0 || time.Since(began) != requestTime {
			t.Errorf("one too many of an owner got %v after %v", err, time.Since(began))
		}
		free, err := hold("100000000000000002")
		if err != nil {
			t.Fatalf("another owner finds no room: %v", err)
		}
		frees = append(frees, free)
		frees[0]()
		if frees[0], err = hold("100000000000000001"); err != nil {
			t.Errorf("after one was given back: %v", err)
		}
		for _, free := range frees {
			free()
		}
		if n := len(a.largeBodies) + a.senders.Callers(); n != 0 {
			t.Errorf("room for %d is not given back", n)
		}
	})
}
