package main

import (
	"cmp"
	"context"
	"errors"
	"log"
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

// grown is a larger board, or many boards, beside the smallest.
type grown struct {
	title           string
	load            load
	increment, rank grownRates
}

// grownRates are those of one scenario, by round. The smallest board's is measured right before the others, so that what the
// machine's neighbours do in that minute is in all of them.
type grownRates struct {
	small []float64
	same  []float64 // with as many active members as the smallest board has
	all   []float64
}

// growth measures boards of several sizes, each in turn with the smallest.
func (b *bencher) growth(ctx context.Context) (string, error) {
	n := b.boards()
	small := load{members: n.small, first: 3}
	larger := []grown{
		{title: whole(float64(n.large)) + " members", load: load{members: n.large, first: sizeBoard}},
		{title: whole(float64(n.largest)) + " members", load: load{members: n.largest, first: 4}},
		{title: whole(float64(n.large)) + " members of " + whole(float64(n.guilds)) + " boards", load: load{members: n.large, guilds: n.guilds, first: 10}},
	}
	for _, g := range larger {
		log.Printf("growth: %s are made", g.title)
		if err := b.fill(ctx, g.load); err != nil {
			return "", err
		}
	}
	var near, far []float64
	for round := range b.rounds {
		log.Printf("growth: round %d of %d", round+1, b.rounds)
		for i := range larger {
			g := &larger[i]
			if err := errors.Join(b.compare(ctx, "increment", small, g.load, &g.increment), b.compare(ctx, "rank", small, g.load, &g.rank)); err != nil {
				return "", err
			}
		}
		first, last := larger[0].load, larger[0].load
		first.page, last.page = 1, n.farPage
		if err := errors.Join(b.rateOf(ctx, "page", first, &near), b.rateOf(ctx, "page", last, &far)); err != nil {
			return "", err
		}
	}
	same := growthTable(n, "by the same "+whole(float64(n.small))+" members", larger, func(r grownRates) []float64 { return r.same })
	all := growthTable(n, "by all members", larger, func(r grownRates) []float64 { return r.all })
	return same + "\n" + all + "\n" + pagesTable(n, near, far), nil
}

func (b *bencher) compare(ctx context.Context, scenario string, small, large load, rates *grownRates) error {
	same := large
	same.active = small.members
	return errors.Join(b.rateOf(ctx, scenario, small, &rates.small), b.rateOf(ctx, scenario, same, &rates.same), b.rateOf(ctx, scenario, large, &rates.all))
}

func (b *bencher) rateOf(ctx context.Context, scenario string, l load, rates *[]float64) error {
	log.Printf("growth: %s of %d of %d members", scenario, cmp.Or(l.active, l.members), l.members)
	l.scenario = scenario
	result, err := b.serve(ctx, l)
	if err == nil {
		*rates = append(*rates, result.Total.PerSecond)
	}
	return err
}

func growthTable(n boards, active string, larger []grown, of func(grownRates) []float64) string {
	const share = "of the smallest (aim: at least 0.8)"
	t := table{header: []string{"board", "increments a second, " + active, share, "ranks a second", share}}
	var increments, ranks []float64
	for _, g := range larger {
		increments, ranks = append(increments, g.increment.small...), append(ranks, g.rank.small...)
	}
	t.add(whole(float64(n.small))+" members", whole(median(increments)), "1.00", whole(median(ranks)), "1.00")
	for _, g := range larger {
		t.add(g.title, whole(median(of(g.increment))), judged(median(ratios(of(g.increment), g.increment.small)), leastGrowth, false),
			whole(median(of(g.rank))), judged(median(ratios(of(g.rank), g.rank.small)), leastGrowth, false))
	}
	return t.String()
}

func pagesTable(n boards, near, far []float64) string {
	t := table{header: []string{"page of " + whole(float64(n.large)) + " members", "a second", "of page 1 (aim: at least 0.8)"}}
	t.add("1", whole(median(near)), "1.00")
	t.add(whole(float64(n.farPage)), whole(median(far)), judged(median(ratios(far, near)), leastGrowth, false))
	return t.String()
}
