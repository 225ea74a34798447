package loadgen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/platform/pause"
)

const (
	// verifyTime bounds the reading of the members after the load.
	verifyTime = 2 * time.Minute
	// readAttempts is how often a page is tried; the service may be recovering from what the load did to it.
	readAttempts = 5
	// maxRetryAfter bounds how long a read waits if the service asks for that.
	maxRetryAfter = 10 * time.Second
	// absent is the XP of a member that is not on the board.
	absent = -1
)

// ledger keeps what each member must have gained, for all connections at once.
type ledger struct {
	acknowledged []atomic.Int64 // XP that the service said it added
	doubtful     []atomic.Int64 // XP that it may have added
}

func newLedger(members int) *ledger {
	return &ledger{make([]atomic.Int64, members), make([]atomic.Int64, members)}
}

func (l *ledger) acknowledge(member int, xp int64) { l.acknowledged[member].Add(xp) }
func (l *ledger) doubt(member int, xp int64)       { l.doubtful[member].Add(xp) }

// Verification compares what was acknowledged with what the members gained. XP was counted once if every member gained at least
// what was acknowledged, and at most that and what is unknown.
type Verification struct {
	Error        string `json:"error,omitempty"` // why the members could not be read after the load
	Members      int    `json:"members"`
	Acknowledged int64  `json:"acknowledgedXp"`
	Unknown      int64  `json:"unknownXp"` // of requests without an answer that says what was done
	Gained       int64  `json:"gainedXp"`
	Lost         int64  `json:"lostXp"`    // acknowledged and not gained, over the members
	TooMuch      int64  `json:"tooMuchXp"` // gained beyond what was acknowledged or is unknown, over the members
	Missing      int    `json:"missing"`   // members that are not on the board any more
}

func (v *Verification) problem() error {
	switch {
	case v.Error != "":
		return fmt.Errorf("the XP could not be verified: %s", v.Error)
	case v.Lost != 0 || v.TooMuch != 0 || v.Missing != 0:
		return fmt.Errorf("the verification failed: %d XP lost, %d XP too much, %d members missing", v.Lost, v.TooMuch, v.Missing)
	}
	return nil
}

// verify reads the board, also if the load was interrupted.
func (b *bench) verify(ctx context.Context, before board) *Verification {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), verifyTime)
	defer cancel()
	b.Progress("reading the members' XP")
	after, err := b.readBoard(ctx)
	if err != nil {
		return &Verification{Error: err.Error()}
	}
	return b.ledger.compare(before, after)
}

// compare judges each member, so that what one lost does not make up for what another has too much.
func (l *ledger) compare(before, after board) *Verification {
	v := &Verification{Members: len(l.acknowledged)}
	for i := range l.acknowledged {
		acknowledged, doubtful := l.acknowledged[i].Load(), l.doubtful[i].Load()
		v.Acknowledged += acknowledged
		v.Unknown += doubtful
		if after[i] == absent || before[i] == absent {
			v.Missing++
			continue
		}
		gained := after[i] - before[i]
		v.Gained += gained
		v.TooMuch += max(gained-acknowledged-doubtful, 0)
		if after[i] < int64(level.MaxXP) { // at the limit an increment adds less than it says
			v.Lost += max(acknowledged-gained, 0)
		}
	}
	return v
}

// board is the XP of each member of the run, or absent.
type board []int64

// readBoard reads the pages of the guilds' boards. Nothing may be changing them.
func (b *bench) readBoard(ctx context.Context) (board, error) {
	xp := make(board, b.Members)
	for i := range xp {
		xp[i] = absent
	}
	for guild := range b.guilds {
		for number := 1; number <= b.pagesOf(guild); number++ {
			page, err := b.readPage(ctx, guild, number)
			if err != nil {
				return nil, err
			}
			for _, entry := range page {
				if i := memberOf(entry.UserID, b.Members); i >= 0 {
					xp[i] = entry.XP
				}
			}
		}
	}
	return xp, nil
}

type entry struct {
	UserID string `json:"userId"`
	XP     int64  `json:"xp"`
}

// readPage reads a page with a key that is not the load's, and tries again as the service asks.
func (b *bench) readPage(ctx context.Context, guild, number int) ([]entry, error) {
	for attempt := 1; ; attempt++ {
		got, err := b.client.send(ctx, answerTime, request{method: http.MethodGet, path: b.pagePath(guild, number), keep: true},
			http.Header{"X-Api-Key": {b.setupKeys[guild/grantsOfKey].secret}})
		if err == nil && got.status == http.StatusOK {
			var body struct{ Levels []entry }
			err = json.Unmarshal(got.body, &body)
			return body.Levels, err
		}
		if err == nil {
			err = fmt.Errorf("the service answered %d%s", got.status, adviceFor(got.status))
		}
		wait := time.Second
		if seconds, _ := strconv.Atoi(got.header.Get("Retry-After")); seconds > 0 {
			wait = min(time.Duration(seconds)*time.Second, maxRetryAfter)
		}
		if attempt == readAttempts || !got.unknown() && got.status != http.StatusTooManyRequests || !pause.For(ctx, wait) {
			return nil, errors.Join(fmt.Errorf("page %d: %w", number, err), ctx.Err())
		}
	}
}

// adviceFor says what to do about a status that means that the service limits its callers.
func adviceFor(status int) string {
	if status == http.StatusTooManyRequests {
		return ", because it limits its callers: " + limitAdvice
	}
	return ""
}
