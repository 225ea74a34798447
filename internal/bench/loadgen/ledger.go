package loadgen

import (
	"fmt"
	"sync/atomic"

	"levelboard/internal/domain/level"
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

// Verification is the comparison of what was acknowledged with what the members gained. XP was counted once when every
// member gained at least what was acknowledged, and at most that and what is unknown.
type Verification struct {
	Done         bool   `json:"done"`            // false when the members could not be read after the load
	Error        string `json:"error,omitempty"` // why not
	Limited      bool   `json:"limited"`         // they could not, because the service limits its callers: nothing is known to be wrong
	Members      int    `json:"members"`         // that were compared
	Acknowledged int64  `json:"acknowledgedXp"`
	Unknown      int64  `json:"unknownXp"` // of requests without an answer that says what was done
	Gained       int64  `json:"gainedXp"`
	Lost         int64  `json:"lostXp"`    // acknowledged and not gained, over the members
	TooMuch      int64  `json:"tooMuchXp"` // gained beyond what was acknowledged or is unknown, over the members
	Missing      int    `json:"missing"`   // members that are not on the board any more
}

// Passed reports whether everything was counted once.
func (v Verification) Passed() bool { return v.Done && v.Lost == 0 && v.TooMuch == 0 && v.Missing == 0 }

func (v Verification) problem() error {
	switch {
	case v.Passed(), v.Limited:
		return nil
	case !v.Done:
		return fmt.Errorf("the XP could not be verified: %s", v.Error)
	}
	return fmt.Errorf("the verification failed: %d XP lost, %d XP too much, %d members missing", v.Lost, v.TooMuch, v.Missing)
}

// compare judges each member, so that what one lost does not make up for what another has too much.
func (l *ledger) compare(before, after board) Verification {
	v := Verification{Done: true, Members: len(l.acknowledged)}
	for i := range l.acknowledged {
		acknowledged, doubtful := l.acknowledged[i].Load(), l.doubtful[i].Load()
		v.Acknowledged += acknowledged
		v.Unknown += doubtful
		if after[i] == absent {
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
