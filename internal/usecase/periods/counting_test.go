package periods_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
)

// Whatever happens to a guild in between, snapshots, losses of all that Redis has and new days, the boards are what the members gained.
func TestBoardsAreWhatTheMembersGained(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		w := newWorld(t)
		r := rand.New(rand.NewPCG(seed, 1))
		m := model{xp: map[id.User]int64{}, gains: map[id.User]map[period.Day]int64{}}
		for range 250 {
			n := 1 + r.IntN(6)
			_, there := m.xp[user(n)]
			switch action := r.IntN(18); {
			case !there:
				w.create(n)
				m.xp[user(n)], m.gains[user(n)] = 1000, map[period.Day]int64{}
			case action < 10:
				amount := r.IntN(50) - 15
				w.gain(n, amount)
				m.gain(user(n), w.today(), int64(amount))
			case action == 10:
				w.delete(n)
				delete(m.xp, user(n))
				delete(m.gains, user(n))
			case action == 11 || action == 12:
				w.snapshot()
			case action == 13:
				w.snapshot()
				w.forget()
			case action == 14 && w.days < 30:
				w.days += 1 + r.IntN(4)
			default: // nobody reads on most days, and then not all boards, in any order
				all := w.guild.Calendar().Running(w.today())
				r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				for _, p := range all[:1+r.IntN(len(all))] {
					if got, want := w.running(p), m.board(p); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
						t.Fatalf("seed %d: %s has %v, want %v", seed, p.ID, got, want)
					}
				}
			}
		}
	}
}

type model struct {
	xp    map[id.User]int64
	gains map[id.User]map[period.Day]int64
}

func (m *model) gain(u id.User, d period.Day, amount int64) {
	amount = max(amount, -m.xp[u])
	m.xp[u] += amount
	m.gains[u][d] += amount
}

func (m *model) board(p period.Period) (board []standing) {
	for u, days := range m.gains {
		sum := int64(0)
		for d, gained := range days {
			if p.Has(d) {
				sum += gained
			}
		}
		if sum > 0 {
			board = append(board, standing{u, sum})
		}
	}
	slices.SortFunc(board, func(a, b standing) int {
		if a.gained != b.gained {
			return int(b.gained - a.gained)
		}
		return strings.Compare(string(b.user), string(a.user))
	})
	return board
}
