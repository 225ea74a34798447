package demo

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/snapshot"
)

// Activity makes members gain XP through the API, as a bot does when they write messages.
type Activity struct {
	URL  string // base of the service
	Key  string // a read/write key with a grant for GuildID
	Rate float64
	Log  *slog.Logger

	members  []snapshot.Row
	r        *rand.Rand
	speakers *rand.Zipf
	client   *http.Client
}

// NewActivity returns the activity of members. The first ones write most (by Zipf's law). The same seed gives the same changes in the same order.
func NewActivity(members []snapshot.Row, seed uint64) *Activity {
	r := rand.New(rand.NewPCG(seed, 2))
	return &Activity{
		Log:      slog.New(slog.DiscardHandler),
		members:  members,
		r:        r,
		speakers: rand.NewZipf(r, 1.07, 20, uint64(len(members)-1)),
		client:   &http.Client{Timeout: 10 * time.Second},
	}
}

// Run makes Rate changes a second on average, at random moments, until ctx
// ends; a Rate of 0 makes none. It logs the first of several failures in a row.
func (a *Activity) Run(ctx context.Context) {
	if a.Rate <= 0 {
		return
	}
	// The gaps make the changes a Poisson process.
	gap := func() time.Duration { return time.Duration(a.r.ExpFloat64() / a.Rate * float64(time.Second)) }
	pause.Again(ctx, gap, a.step, func(err error) {
		a.Log.Warn("the simulated activity cannot change the board", "error", err)
	})
}

// step gives one member the XP of one message.
func (a *Activity) step(ctx context.Context) error {
	user := a.members[a.speakers.Uint64()].UserID
	body := fmt.Sprintf(`{"xp":{"increment":%d}}`, minXP+a.r.IntN(maxXP-minXP+1))
	url := fmt.Sprintf("%s/v2/levels/%s/users/%s", a.URL, GuildID, user)
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, url, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("increment a member: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Api-Key", a.Key)
	response, err := a.client.Do(request)
	if err != nil {
		return fmt.Errorf("increment a member: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("increment a member: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("increment a member: %s: %s", response.Status, answer)
	}
	return nil
}
