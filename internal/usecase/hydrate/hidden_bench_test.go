package hydrate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"levelboard/internal/domain/hidden"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/testing/stores"
	"levelboard/internal/usecase/hiding"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// BenchmarkHidden measures the cost of 5,000 hidden members in a guild of 100,000: of a load, and of a change and a page by turns with a
// guild without hidden members. It reports medians.
func BenchmarkHidden(b *testing.B) {
	const members, hiddenMembers, changes = 100_000, 5_000, 200
	live, archive, hydrator, writer := benchmarked(b)
	rows := make([]snapshot.Row, members)
	for i := range rows {
		rows[i] = snapshot.Row{Member: leaderboard.Member{
			UserID: stores.User(i), XP: level.XP(i * 7919 % 1_000_003), MessageCount: int64(i), LastUpdated: time.UnixMilli(1767225600000).UTC(),
			User: leaderboard.User{Discriminator: "0", Username: fmt.Sprintf("gopher%d", i)},
		}}
	}
	var guilds []leaderboard.GuildRef
	for _, gid := range []id.Guild{stores.GuildA, stores.GuildA[:17] + "2"} {
		ref := putGuild(b, archive, gid)
		if err := writer.Import(b.Context(), ref, rows); err != nil {
			b.Fatal(err)
		}
		for from := 0; len(guilds) == 1 && from < hiddenMembers; from += hidden.MaxStep {
			step := hiding.Step{By: hidden.ByManager, Hidden: true}
			for i := range hidden.MaxStep {
				step.Users = append(step.Users, stores.User(20*(from+i)))
			}
			g, _, err := archive.SetHidden(b.Context(), gid, step)
			if err != nil {
				b.Fatal(err)
			}
			ref = leaderboard.Ref(g)
		}
		guilds = append(guilds, ref)
	}
	took := map[string][2][]time.Duration{}
	measure := func(what string, i int, call func() error) {
		began := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		both := took[what]
		both[i] = append(both[i], time.Since(began))
		took[what] = both
	}
	change := leaderboard.Change{Op: leaderboard.Increment, Amount: 5, Curve: &level.Curve{}}
	for b.Loop() {
		g := guilds[1]
		if err := live.Drop(b.Context(), g); err != nil {
			b.Fatal(err)
		}
		for i, number := range []int64{0, g.Hidden} { // a load without flags, then with them
			g.Hidden = number
			measure("load", i, func() error { return hydrator.Load(b.Context(), g) })
		}
		if err := hydrator.Load(b.Context(), guilds[0]); err != nil {
			b.Fatal(err)
		}
		for n := range changes * len(guilds) {
			i := n % len(guilds)
			user := stores.User(rand.IntN(members))
			measure("change", i, func() error { _, err := live.Change(b.Context(), guilds[i], user, change); return err })
			measure("page", i, func() error {
				_, err := live.Page(b.Context(), guilds[i], 0, leaderboard.PageSize)
				return err
			})
		}
	}
	for what, both := range took {
		medians := [2]float64{}
		for i, all := range both {
			slices.Sort(all)
			medians[i] = float64(all[len(all)/2].Nanoseconds()) / 1000
		}
		if what == "load" {
			medians[1] += medians[0]
		}
		b.ReportMetric(medians[0], what+"-us")
		b.ReportMetric(medians[1], what+"-hidden-us")
		b.ReportMetric(100*(medians[1]/medians[0]-1), what+"-%")
	}
}
