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
	"levelboard/internal/http/edge"
	"levelboard/internal/http/endless"
	"levelboard/internal/platform/shares"
)

// bodyOf returns a request to send messages to benchGuild with a body of this many bytes. It ends after edge.RequestTime.
func bodyOf(t *testing.T, length int64, key apikey.Key) (c *gin.Context, end func()) {
	ctx, end := context.WithTimeout(t.Context(), edge.RequestTime)
	ctx = context.WithValue(ctx, endless.RequestKey{}, &state{Visit: edge.Visit{Caller: edge.Caller{Key: &key}}})
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(""))
	r.ContentLength = length
	return &gin.Context{Request: r}, end
}

var (
	writer = apikey.Key{Permission: apikey.ReadWrite, GuildIDs: []id.Guild{benchGuild}}
	// idle are keys whose large bodies will be refused.
	idle = map[string]apikey.Key{
		"without a grant": {Permission: apikey.ReadWrite},
		"for reading":     {Permission: apikey.Read, GuildIDs: []id.Guild{benchGuild}},
	}
)

// room waits for room for a body of this length, in a request that ends after edge.RequestTime.
func room(t *testing.T, a *api, length int64, key apikey.Key) (*shares.Place, error) {
	c, end := bodyOf(t, length, key)
	defer end()
	err := a.holdLargeBody(c, benchGuild)
	return stateOf(c).room, err
}

func mustRoom(t *testing.T, a *api, length int64, key apikey.Key) *shares.Place {
	t.Helper()
	held, err := room(t, a, length, key)
	if err != nil {
		t.Fatalf("room for a body of %d bytes: %v", length, err)
	}
	return held
}

func TestLargeBodiesWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &api{largeBodies: shares.New(2, largeBodiesOfOwner)}
		unknown, large := mustRoom(t, a, -1, writer), mustRoom(t, a, maxBody+1, writer)
		mustRoom(t, a, maxBody, writer) // small bodies need no room
		mustRoom(t, a, 0, writer)

		began := time.Now()
		if _, err := room(t, a, maxBody+1, writer); !fault.Is(err, fault.Unavailable) || time.Since(began) != edge.RequestTime {
			t.Errorf("one large body too many got %v after %v, want fault.Unavailable after %v", err, time.Since(began), edge.RequestTime)
		}
		waited := make(chan *shares.Place)
		go func() { waited <- mustRoom(t, a, maxLargeBody, writer) }()
		synctest.Wait()
		large.Release()
		(<-waited).Release()
		unknown.Release()
		if n := a.largeBodies.Holders(); n != 0 {
			t.Errorf("after all ended %d requests hold room, want 0", n)
		}
	})
}

// Large bodies that will be refused wait only for each other.
func TestLargeBodiesToBeRefusedHaveTheirOwnRoom(t *testing.T) {
	for name, key := range idle {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &api{largeBodies: shares.New(1, 1), refusedBodies: shares.New(2, 2)}
				held := []*shares.Place{mustRoom(t, a, maxLargeBody, key), mustRoom(t, a, maxLargeBody, key)}
				if _, err := room(t, a, maxLargeBody, key); err == nil {
					t.Error("one body too many that will be refused got room")
				}
				for _, place := range append(held, mustRoom(t, a, maxLargeBody, writer)) {
					place.Release()
				}
				if n := a.largeBodies.Holders() + a.refusedBodies.Holders(); n != 0 {
					t.Errorf("after all ended %d requests hold room, want 0", n)
				}
			})
		})
	}
}

// An owner who sends many large bodies slowly takes only their own share. Other owners' bodies are still read.
func TestLargeBodiesOfOneOwnerLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &api{largeBodies: shares.New(largeBodies, largeBodiesOfOwner)}
		one, other := writer, writer
		one.OwnerID, other.OwnerID = "100000000000000001", "100000000000000002"
		var held []*shares.Place
		for range largeBodiesOfOwner {
			held = append(held, mustRoom(t, a, maxLargeBody, one))
		}
		began := time.Now()
		if _, err := room(t, a, maxLargeBody, one); !fault.Is(err, fault.RateLimited) || fault.From(err).RetryAfter <= 0 || time.Since(began) != edge.RequestTime {
			t.Errorf("one body too many of an owner got %v after %v, want 429 after %v", err, time.Since(began), edge.RequestTime)
		}
		held = append(held, mustRoom(t, a, maxLargeBody, other))
		held[0].Release()
		held = append(held, mustRoom(t, a, maxLargeBody, one))
		for _, place := range held {
			place.Release()
		}
		if n := a.largeBodies.Holders(); n != 0 {
			t.Errorf("after all ended %d requests hold room, want 0", n)
		}
	})
}
