package storetest

import (
	"fmt"
	"sync"
	"time"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// step is a change and its outcome.
type step struct {
	change leaderboard.Change
	out    leaderboard.Outcome
}

// concurrentSteps makes many changes of few members at once: up, down past 0, up past the highest XP and to a number. The outcomes for
// each member must fit some order: each is correct by itself, and together they lead from the first XP to the last.
func concurrentSteps(b *board) {
	const members, workers, each, start = 3, 32, 15, 50
	b.load(rowN(1, start), rowN(2, start), rowN(3, start))
	var mu sync.Mutex
	var steps [members][]step
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range each {
				who := (w + i) % members
				c := stepOf(w*each + i)
				if who == 0 {
					c.Cooldown = 0
				}
				out, err := b.Change(b.Context(), b.g, userN(who+1), c)
				if err != nil {
					b.Errorf("change %+v: %v", c, err)
					return
				}
				mu.Lock()
				steps[who] = append(steps[who], step{c, out})
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for who, made := range steps {
		if err := oneWalk(made, start, b.member(userN(who+1)).XP); err != nil {
			b.Errorf("member %d: %v", who+1, err)
		}
		// Every member but the first got a cooldown, which no change removes.
		got, _, err := b.Award(b.Context(), b.g, leaderboard.Awards{
			Members: []leaderboard.Award{{User: userN(who + 1), Offers: []level.XP{1}}}, Cooldown: time.Hour,
		})
		b.must(err)
		if room := b.member(userN(who+1)).XP < level.MaxXP; room && (got[0].Gained[0] == 0) != (who > 0) {
			b.Errorf("member %d gained %v for a message, want XP without a cooldown only", who+1, got[0].Gained)
		}
	}
	if rev := b.version().Rev; rev != workers*each+members {
		b.Errorf("after %d changes the rev is %d, want their number", workers*each+members, rev)
	}
}

func stepOf(n int) leaderboard.Change {
	c := leaderboard.Change{Op: leaderboard.Increment, Amount: level.XP(n%40 + 1)}
	switch n % 7 {
	case 1, 2:
		c.Op = leaderboard.Decrement
	case 3:
		c.Op = leaderboard.Set
	case 4:
		c.Cooldown = time.Hour
	case 5:
		if n%5 == 0 {
			c.Amount = level.MaxXP
		}
	}
	return c
}

// oneWalk checks that the steps fit one order: as many lead away from each XP as to it, except for the first and the last, and all are
// connected.
func oneWalk(steps []step, first, last level.XP) error {
	away := map[level.XP]int{}
	away[first]++
	away[last]--
	next := map[level.XP][]level.XP{}
	for _, s := range steps {
		want := s.change.Amount
		switch s.change.Op {
		case leaderboard.Increment:
			want = min(s.out.Before+s.change.Amount, level.MaxXP)
		case leaderboard.Decrement:
			want = max(s.out.Before-s.change.Amount, 0)
		}
		if s.out.After != want {
			return fmt.Errorf("%s %d has the outcome %+v, want %d XP after it", s.change.Op, s.change.Amount, s.out, want)
		}
		away[s.out.Before]--
		away[s.out.After]++
		next[s.out.Before] = append(next[s.out.Before], s.out.After)
	}
	for xp, n := range away {
		if n != 0 {
			return fmt.Errorf("%d outcomes too many or too few lead to %d XP", n, xp)
		}
	}
	reached, todo := map[level.XP]bool{}, []level.XP{first}
	for len(todo) > 0 {
		xp := todo[0]
		todo = todo[1:]
		if !reached[xp] {
			reached[xp] = true
			todo = append(todo, next[xp]...)
		}
	}
	for xp := range next {
		if !reached[xp] {
			return fmt.Errorf("no order of the outcomes leads to %d XP", xp)
		}
	}
	return nil
}
