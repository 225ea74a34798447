package main

import (
	"context"
	"log"
	"runtime"
)

// aim is what one kind of request has to reach.
type aim struct {
	title, scenario, floor, floorTitle string
	least                              float64 // of the service's rate, to the floor's; 0 for none
	page                               int     // 0 for random ones
	plain                              bool    // not gzipped
}

var aims = []aim{
	{"increment", "increment", "patch", "bare Gin PATCH", 0.5, 0, false},
	{"increment", "increment", "zincrby", "bare Gin + ZINCRBY", 0, 0, false},
	{"rank", "rank", "get", "bare Gin GET", 0.45, 0, false},
	{"page, unchanged board, gzipped", "page", "get", "bare Gin GET", 0.5, 0, false},
	{"page, unchanged board, as it is", "page", "get", "bare Gin GET", 0.5, 0, true},
	{"304", "poll", "get", "bare Gin GET", 0.6, 0, false},
	{"page 1, 1000 changes a second", "page-while-writing", "top100", "read and encode", 5, 1, false},
}

// mostSpread is how many times p50 p99 may be.
const mostSpread = 4

// ratioMembers is how many members the board has.
const ratioMembers = 100_000

// measuredAim is what the rounds gave.
type measuredAim struct {
	aim
	rate, floorRate, p50, p99, spread []float64
	writes                            []float64 // beside the pages
}

// ratios measures the service and its floors in turn. The load generator has one thread, as wrk -t1 -c64 has, with which the aims were set.
func (b *bencher) ratios(ctx context.Context) (string, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	all := make([]measuredAim, len(aims))
	for round := range b.rounds {
		log.Printf("ratios: round %d of %d", round+1, b.rounds)
		for i, a := range aims {
			floor, err := b.ask(ctx, a.floor)
			if err != nil {
				return "", err
			}
			service, err := b.serve(ctx, load{scenario: a.scenario, members: ratioMembers, page: a.page, plain: a.plain})
			if err != nil {
				return "", err
			}
			m := &all[i]
			l := service.Total.Latency
			m.aim = a
			m.rate, m.floorRate = append(m.rate, service.Total.PerSecond), append(m.floorRate, floor.Total.PerSecond)
			m.p50, m.p99, m.spread = append(m.p50, l.P50), append(m.p99, l.P99), append(m.spread, l.P99/l.P50)
			if service.Writers != nil {
				m.writes = append(m.writes, service.Writers.PerSecond)
			}
		}
	}
	return ratioTable(all), nil
}

func ratioTable(all []measuredAim) string {
	t := table{header: []string{"work", "floor", "service / floor", "aim", "service, a second", "floor, a second", "p50 ms", "p99 ms", "p99 / p50 (aim: at most 4)"}}
	remark := ""
	for _, m := range all {
		ratio := median(ratios(m.rate, m.floorRate))
		want := "none"
		if m.least > 0 {
			want = "at least " + trimmed(m.least)
		}
		t.add(m.title, m.floorTitle, judged(ratio, m.least, false), want, whole(median(m.rate)), whole(median(m.floorRate)),
			fixed(median(m.p50)), fixed(median(m.p99)), judged(median(m.spread), mostSpread, true))
		if m.writes != nil {
			remark = "\nThe increments beside the pages came at " + whole(median(m.writes)) + " a second, of 1,000 asked for.\n"
		}
	}
	return t.String() + remark
}
