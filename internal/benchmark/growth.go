package main

import (
	"context"
	"errors"
	"log"
	"slices"
)

// boards are the boards of growth.
type boards struct {
	small, large, largest int // members
	guilds                int // over which large members are spread
	farPage               int
}

func (b *bencher) boards() boards {
	if b.quick {
		return boards{1_000, 100_000, 500_000, 10_000, 1_000}
	}
	return boards{10_000, 1_000_000, 5_000_000, 100_000, 10_000}
}

// leastGrowth is what is to be left of the smallest board's rate.
const leastGrowth = 0.8

// grown is one board, or many, and its rates by round.
type grown struct {
	title            string
	load             load
	increment, ranks []float64
}

// growth measures boards of several sizes in turn.
func (b *bencher) growth(ctx context.Context) (string, error) {
	n := b.boards()
	all := []grown{
		{title: whole(float64(n.small)) + " members", load: load{members: n.small, first: 3}},
		{title: whole(float64(n.large)) + " members", load: load{members: n.large, first: sizeBoard}},
		{title: whole(float64(n.largest)) + " members", load: load{members: n.largest, first: 4}},
		{title: whole(float64(n.large)) + " members of " + whole(float64(n.guilds)) + " boards", load: load{members: n.large, guilds: n.guilds, first: 10}},
	}
	same := slices.Clone(all) // with as many active members as the smallest board has
	for i := range same {
		same[i].load.active = n.small
	}
	var near, far []float64
	for round := range b.rounds {
		log.Printf("growth: round %d of %d", round+1, b.rounds)
		for i := range all {
			if err := errors.Join(b.ratesOf(ctx, &same[i]), b.ratesOf(ctx, &all[i])); err != nil {
				return "", err
			}
		}
		first, last := all[1].load, all[1].load
		first.page, last.page = 1, n.farPage
		if err := errors.Join(b.rateOf(ctx, "page", first, &near), b.rateOf(ctx, "page", last, &far)); err != nil {
			return "", err
		}
	}
	return growthTable("by the same "+whole(float64(n.small))+" members", same) + "\n" + growthTable("by all members", all) + "\n" + pagesTable(n, near, far), nil
}

func (b *bencher) ratesOf(ctx context.Context, g *grown) error {
	return errors.Join(b.rateOf(ctx, "increment", g.load, &g.increment), b.rateOf(ctx, "rank", g.load, &g.ranks))
}

func (b *bencher) rateOf(ctx context.Context, scenario string, l load, rates *[]float64) error {
	log.Printf("growth: %s of %d of %d members", scenario, or(l.active, l.members), l.members)
	l.scenario = scenario
	result, err := b.serve(ctx, l)
	if err == nil {
		*rates = append(*rates, result.Total.PerSecond)
	}
	return err
}

func growthTable(active string, all []grown) string {
	const share = "of the smallest (aim: at least 0.8)"
	t := table{header: []string{"board", "increments a second, " + active, share, "ranks a second", share}}
	for _, g := range all {
		t.add(g.title, whole(median(g.increment)), judged(median(ratios(g.increment, all[0].increment)), leastGrowth, false),
			whole(median(g.ranks)), judged(median(ratios(g.ranks, all[0].ranks)), leastGrowth, false))
	}
	return t.String()
}

func pagesTable(n boards, near, far []float64) string {
	t := table{header: []string{"page of " + whole(float64(n.large)) + " members", "a second", "of page 1 (aim: at least 0.8)"}}
	t.add("1", whole(median(near)), "1.00")
	t.add(whole(float64(n.farPage)), whole(median(far)), judged(median(ratios(far, near)), leastGrowth, false))
	return t.String()
}
