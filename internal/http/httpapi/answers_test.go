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
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/http/edge"
	"levelboard/internal/http/endless"
	"levelboard/internal/platform/shares"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// answering returns a request of owner, whose answer may take edge.RequestTime to send.
func answering(t *testing.T, answers *shares.Pool, owner id.User) (*gin.Context, *httptest.ResponseRecorder) {
	ctx, cancel := context.WithTimeout(t.Context(), edge.RequestTime)
	t.Cleanup(cancel)
	sent := httptest.NewRecorder()
	c, _ := gin.CreateTestContext(sent)
	s := &state{Visit: edge.Visit{Caller: edge.Caller{Key: &apikey.Key{OwnerID: owner}}}, answers: answers}
	c.Request = httptest.NewRequestWithContext(context.WithValue(ctx, endless.RequestKey{}, s), http.MethodGet, "/", nil)
	return c, sent
}

func reserving(c *gin.Context, n int) error {
	r := (&api{}).read(c)
	r.reserve(n)
	return r.err
}

const one, other id.User = "100000000000000001", "100000000000000002"

// Answers that an owner's clients leave unread count until they are written. Beyond the bound that owner's requests are refused before any
// change is made; other owners are not affected.
func TestUnreadAnswersCountAgainstTheirOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := shares.New(4<<20, 1<<20)
		held, _ := answering(t, answers, one)
		if err := reserving(held, 900<<10); err != nil {
			t.Fatal(err)
		}
		large := []byte(strings.Repeat("x", 200<<10))
		c, sent := answering(t, answers, one)
		c.Header("ETag", "a")
		(&api{}).fail(c, writeAs(c, http.StatusOK, jsonType, large))
		if sent.Code != http.StatusTooManyRequests || sent.Header().Get("Retry-After") == "" || sent.Header().Get("ETag") != "" {
			t.Errorf("one answer too many is %d %v, want 429 with Retry-After and no ETag", sent.Code, sent.Header())
		}
		c, sent = answering(t, answers, one)
		if err := writeAs(c, http.StatusOK, jsonType, large[:uncounted]); err != nil || sent.Code != http.StatusOK {
			t.Errorf("a small answer is %d (%v), want 200", sent.Code, err)
		}
		c, sent = answering(t, answers, other)
		if err := writeAs(c, http.StatusOK, jsonType, large); err != nil || sent.Code != http.StatusOK {
			t.Errorf("another owner's answer is %d (%v), want 200", sent.Code, err)
		}

		began := time.Now()
		c, _ = answering(t, answers, one)
		if err := reserving(c, 200<<10); !fault.Is(err, fault.RateLimited) || time.Since(began) != edge.RequestTime {
			t.Errorf("a change got %v after %v, want a refusal after %v", err, time.Since(began), edge.RequestTime)
		}
		c, _ = answering(t, answers, one)
		waited := make(chan error)
		go func() { waited <- reserving(c, 200<<10) }()
		synctest.Wait()
		stateOf(held).answer.Release()
		if err := <-waited; err != nil {
			t.Errorf("a change once the answers were read: %v, want none", err)
		}
	})
}

// manyRewards returns a guild where each level has this many roles.
func manyRewards(roles int) *guild.Guild {
	g := &guild.Guild{}
	for n := range roles {
		role := guild.Role{ID: id.Role("30000000000000" + string(rune('a'+n/26)) + string(rune('a'+n%26)))}
		g.RoleRewards = append(g.RoleRewards, guild.RoleReward{Level: 1, Roles: []guild.Role{role}})
	}
	return g
}

func TestTheLargestResultsFitTheirReservation(t *testing.T) {
	g := manyRewards(250)
	gains := make([]leaderboard.Gain, maxMessages)
	for n := range gains {
		gains[n] = leaderboard.Gain{
			UserID: "1844674407370955161", Gained: level.MaxXP, XP: level.MaxXP, Level: level.Max, MessageCount: 1<<31 - 1, LeveledUp: true,
		}
	}
	encoded, err := encode(resultsBody(g, gains))
	if err != nil || len(encoded) > resultsOf(g, maxMessages) {
		t.Errorf("the results have %d bytes (%v), want at most the reserved %d", len(encoded), err, resultsOf(g, maxMessages))
	}
}

// A stream encodes a bounded part of the waiting events, each once and in order, however many roles each has.
func TestAStreamEncodesBoundedPartsOfItsEvents(t *testing.T) {
	g := manyRewards(250)
	var entries []events.Entry
	for n := range uint64(500) {
		entries = append(entries, events.Entry{ID: events.ID{Millis: n + 1}, User: "200000000000000001", Moved: events.Returned})
	}
	seen := 0
	for len(entries) > 0 {
		text, n, rest, err := encodeEvents(entries, g)
		if err != nil || n == 0 || len(text) > streamBytes+10<<10 || !strings.HasPrefix(string(text), "id: "+entries[0].ID.String()+"\n") {
			t.Fatalf("%d events in %d bytes (%v), want the next ones within the bound", n, len(text), err)
		}
		seen, entries = seen+n, rest
	}
	if seen != 500 {
		t.Errorf("%d events were encoded, want 500", seen)
	}
}
