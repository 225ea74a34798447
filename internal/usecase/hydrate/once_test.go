package hydrate_test

import (
	"context"
	"slices"
	"testing"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/store/storetest"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
	"levelboard/internal/usecase/snapshot"
)

// repeats has a guild of five members without XP, and sends it named requests.
type repeats struct {
	*stores.World
	guild *guild.Guild
	lease lease.Lease
	board *leaderboard.Leaderboard
}

// eachRepeat runs each case with its own guild, on both pairs of stores.
func eachRepeat(t *testing.T, cases map[string]func(r *repeats)) {
	stores.OnBoth(t, func(w *stores.World) { eachRepeatOn(w, cases) })
}

func eachRepeatOn(w *stores.World, cases map[string]func(r *repeats)) {
	held, err := w.Archive.AcquireLease(w.Context(), "writer", stores.Taken, false)
	w.Must(err)
	for name, test := range cases {
		w.Run(name, func(t *testing.T) {
			own := *w
			own.T = t
			r := &repeats{World: &own, guild: storetest.PutGuild(t, w.Archive, stores.GuildA), lease: held}
			r.board = r.through(&stores.Faults{})
			for i := range 5 {
				_, err := r.board.Create(r.Context(), r.guild, stores.User(i), leaderboard.Creation{})
				r.Must(err)
			}
			r.archive(r.read(100))
			test(r)
			_, err := r.Archive.DeleteGuild(r.Context(), r.guild.ID)
			r.Must(err)
		})
	}
}

func (r *repeats) through(f *stores.Faults) *leaderboard.Leaderboard {
	return leaderboard.New(r.Live, r.Hydrator(f), nil, leaderboard.Options{})
}

// add gives each of the members 10 XP in one step, under a name unless that is empty.
func (r *repeats) add(on *leaderboard.Leaderboard, name string, members ...int) (replayed bool, err error) {
	p := leaderboard.Puts{Mode: leaderboard.PutAdd}
	if name != "" {
		p.Once = leaderboard.Once{Key: leaderboard.DigestOf([]byte(name)), Request: leaderboard.DigestOf([]byte(name))}
	}
	for _, i := range members {
		p.Members = append(p.Members, leaderboard.Put{User: stores.User(i), XP: 10})
	}
	_, replayed, err = on.Put(r.Context(), r.guild, p)
	return replayed, err
}

// made fails the test unless the step succeeds, with this replayed.
func (r *repeats) made(replayed bool, name string, members ...int) {
	r.Helper()
	if again, err := r.add(r.board, name, members...); err != nil || again != replayed {
		r.Errorf("the step %q: replayed %v (%v), want %v", name, again, err, replayed)
	}
}

// read reads a page of this many members.
func (r *repeats) read(size int) snapshot.Batch {
	r.Helper()
	p := r.Live.ReadChanges(r.Context(), []id.Guild{r.guild.ID}, size)[0]
	r.Must(p.Err)
	return p.Batch
}

func (r *repeats) write(b snapshot.Batch) {
	r.Helper()
	r.Must(snapshot.WriteBatch(r.Context(), r.Archive, r.lease, b))
}

func (r *repeats) archive(b snapshot.Batch) {
	r.Helper()
	r.write(b)
	_, errs := r.Live.EndChanges(r.Context(), []snapshot.Batch{b})
	r.Must(errs[0])
}

// lose empties the live store and loads the guild again.
func (r *repeats) lose() {
	r.Helper()
	r.Must(r.Redis.FlushAll(r.Context()).Err())
	r.Must(r.Hydrator(&stores.Faults{}).Load(r.Context(), leaderboard.Ref(r.guild)))
}

func (r *repeats) wantXPs(want ...level.XP) {
	r.Helper()
	var got []level.XP
	for i := range want {
		m, err := r.Live.Member(r.Context(), leaderboard.Ref(r.guild), stores.User(i))
		r.Must(err)
		got = append(got, m.XP)
	}
	if !slices.Equal(got, want) {
		r.Errorf("the members' XP are %v, want %v", got, want)
	}
}

// The live store loses its data in the middle of a snapshot, and then again. Each named request is still made completely and once.
func TestRequestsAreMadeOnceThroughSeveralLosses(t *testing.T) {
	eachRepeat(t, map[string]func(r *repeats){
		"a part of a step is lost, made again and lost": func(r *repeats) {
			r.made(false, "", 0)
			r.made(false, "step", 0, 1)
			r.archive(r.read(1)) // the first member, and the record
			r.lose()
			r.wantXPs(20, 0)
			r.made(false, "", 2)
			r.made(false, "step", 0, 1)
			r.archive(r.read(1))
			r.lose()
			r.wantXPs(20, 0, 10)
			r.made(false, "step", 0, 1)
			r.made(true, "step", 0, 1)
			r.wantXPs(20, 10, 10)
		},
		"a record that is read again after its change was archived": func(r *repeats) {
			r.made(false, "", 0)
			r.made(false, "step", 1)
			r.write(r.read(100)) // its writer dies
			r.Must(r.Redis.HSet(r.Context(), "lb:{"+string(r.guild.ID)+"}:meta", "server", "the one before").Err())
			r.Must(r.Hydrator(&stores.Faults{}).Load(r.Context(), leaderboard.Ref(r.guild)))
			r.archive(r.read(1))
			r.lose()
			r.made(true, "step", 1)
			r.wantXPs(10, 10)
		},
		"a record of a member who changes after a page that was never archived": func(r *repeats) {
			r.made(false, "step", 1)
			r.read(100) // its writer dies
			r.made(false, "", 2)
			r.made(false, "", 1)
			r.archive(r.read(1))
			r.lose()
			r.wantXPs(0, 0, 10)
			r.made(false, "step", 1)
			r.wantXPs(0, 10, 10)
		},
		"a request unknown to the archive before the load": func(r *repeats) {
			r.lose()
			late := r.through(&stores.Faults{After: func(_ context.Context, c stores.Call) error {
				if c.Method == "Past" && c.N == 1 { // meanwhile the client asks another replica
					r.made(false, "step", 1)
					r.archive(r.read(100))
					r.lose()
				}
				return nil
			}})
			replayed, err := r.add(late, "step", 1)
			if err == nil && !replayed {
				r.Error("the request was made again, want a replay")
			}
			r.made(true, "step", 1)
			r.wantXPs(0, 10)
		},
		"a request known to the archive before the load": func(r *repeats) {
			r.lose()
			late := r.through(&stores.Faults{
				Before: func(_ context.Context, c stores.Call) error {
					if c.Method == "Past" && c.N == 1 {
						r.made(false, "", 0)
						r.made(false, "step", 1)
						r.archive(r.read(1)) // the other member, and the record
					}
					return nil
				},
				After: func(_ context.Context, c stores.Call) error {
					if c.Method == "Past" && c.N == 1 {
						r.lose()
					}
					return nil
				},
			})
			_, err := r.add(late, "step", 1)
			r.made(err == nil, "step", 1)
			r.wantXPs(10, 10)
		},
	})
}

// The archive has a request's record and later changes of other members, and both stores lost the request's change. It is made again.
func TestARequestThatBothStoresLostIsMadeAgain(t *testing.T) {
	eachRepeatOn(stores.Restorable(t), map[string]func(r *repeats){
		"its member waited in the stale data": func(r *repeats) {
			r.made(false, "", 1)
			before := r.Keep()
			r.made(false, "step", 1)
			r.read(100) // its writer dies
			r.made(false, "", 2)
			r.made(false, "", 1)
			r.archive(r.read(1)) // the other member, and the record
			r.GoBack(before)
			r.Must(r.Hydrator(&stores.Faults{}).Load(r.Context(), leaderboard.Ref(r.guild)))
			r.wantXPs(0, 10, 10)
			r.made(false, "step", 1)
			r.made(true, "step", 1)
			r.wantXPs(0, 20, 10)
		},
	})
}
