package main

import (
	"context"
	"fmt"
	"strconv"

	"levelboard/internal/bench/loadgen"
)

// ratio is a kind of request, and the floor that it is measured by.
type ratio struct {
	title, scenario, route, floor string
	page                          int // 0 for random ones
}

var allRatios = []ratio{
	{"increment", "increment", "zincrby", "Gin and a ZINCRBY", 0},
	{"member with rank", "rank", "get", "Gin alone", 0},
	{"page, gzipped", "page", "get", "Gin alone", 0},
	{"page that has not changed (304)", "poll", "get", "Gin alone", 0},
	{"page 1, 1,000 changes a second", "page-while-writing", "top100", "Gin, read and encode", 1},
}

// beside is which scenario loads the floor, where it is not the service's: the floor's board does not change by itself.
var beside = map[string]string{"page-while-writing": "page"}

// ratios measures the service and its floors in turn, on a board of 100,000 members.
func (b *bencher) ratios(ctx context.Context) (string, error) {
	t := newTable("work", "floor", "service / floor", "service, a second", "floor, a second", "p50 ms", "p99 ms", "CPU of the service, µs", "of Redis, µs")
	on := board{members: b.scaled(100_000)}
	for _, r := range allRatios {
		var rates, floors, shares, p50, p99, serviceTime, redisTime []float64
		for range b.rounds {
			l := load{scenario: r.scenario, board: on, page: r.page}
			serviceBegan, redisBegan, err := b.cpu(ctx)
			if err != nil {
				return "", err
			}
			service, err := b.serve(ctx, l)
			if err != nil {
				return "", err
			}
			serviceEnded, redisEnded, err := b.cpu(ctx)
			if err != nil {
				return "", err
			}
			if other := beside[l.scenario]; other != "" {
				l.scenario = other
			}
			floor, err := b.ask(ctx, r.route, l)
			if err != nil {
				return "", err
			}
			rates, floors = append(rates, service.Total.PerSecond), append(floors, floor.Total.PerSecond)
			shares = append(shares, service.Total.PerSecond/floor.Total.PerSecond)
			p50, p99 = append(p50, service.Total.Latency.P50), append(p99, service.Total.Latency.P99)
			each := 1e6 / float64(service.Total.Requests)
			serviceTime, redisTime = append(serviceTime, (serviceEnded-serviceBegan)*each), append(redisTime, (redisEnded-redisBegan)*each)
		}
		t.add(r.title, r.floor, fixed(median(shares)), whole(median(rates)), whole(median(floors)), fixed(median(p50)), fixed(median(p99)),
			whole(median(serviceTime)), whole(median(redisTime)))
	}
	return t.String(), nil
}

// messages measures calls of several sizes, on a board of a million members.
func (b *bencher) messages(ctx context.Context) (string, error) {
	t := newTable("messages in a call", "messages a second", "p50 ms", "p99 ms", "service, MB resident")
	on := board{members: b.scaled(1_000_000), first: 1}
	for _, batch := range []int{1, 10, 100, 1000} {
		var rates, p50, p99 []float64
		var resident int64
		for range b.rounds {
			result, err := b.serve(ctx, load{scenario: loadgen.MessagesScenario, board: on, batch: strconv.Itoa(batch), connections: 16})
			if err != nil {
				return "", err
			}
			now, err := b.service.memory("VmRSS")
			if err != nil {
				return "", err
			}
			resident = max(resident, now)
			rates, p50, p99 = append(rates, result.Messages.PerSecond), append(p50, result.Total.Latency.P50), append(p99, result.Total.Latency.P99)
		}
		t.add(strconv.Itoa(batch), whole(median(rates)), fixed(median(p50)), fixed(median(p99)), megabytes(resident))
	}
	return t.String(), nil
}

// growth measures larger boards, each in turn with a small one, so that what the machine's neighbours do is in both.
func (b *bencher) growth(ctx context.Context) (string, error) {
	small := board{members: b.scaled(10_000), first: 3}
	large := board{members: b.scaled(1_000_000), first: sizeBoard}
	many := board{members: large.members, guilds: b.scaled(10_000), first: 4}
	names := []string{whole(float64(small.members)) + " members", whole(float64(large.members)) + " members",
		whole(float64(many.members)) + " members of " + whole(float64(many.guilds)) + " guilds"}
	rows := [][]string{{names[0]}, {names[1]}, {names[2]}}
	for _, scenario := range []string{"increment", "rank"} {
		for i, on := range []board{large, many} {
			base, rate, share, err := b.compare(ctx, load{scenario: scenario, board: small}, load{scenario: scenario, board: on})
			if err != nil {
				return "", err
			}
			if i == 0 {
				rows[0] = append(rows[0], whole(base), "1.00")
			}
			rows[i+1] = append(rows[i+1], whole(rate), fixed(share))
		}
	}
	t := newTable("board", "increments a second", "of the small board's", "ranks a second", "of the small board's")
	for _, row := range rows {
		t.add(row...)
	}
	last := large.members / 100
	_, rate, share, err := b.compare(ctx, load{scenario: "page", board: large, page: 1}, load{scenario: "page", board: large, page: last})
	return t.String() + fmt.Sprintf("\nPage %s of the large board: %s a second, %s of page 1.\n", whole(float64(last)), whole(rate), fixed(share)), err
}

// compare returns the median rates of two loads in turn, and the second's share of the first.
func (b *bencher) compare(ctx context.Context, first, second load) (base, rate, share float64, err error) {
	var bases, rates, shares []float64
	for range b.rounds {
		one, err := b.serve(ctx, first)
		if err != nil {
			return 0, 0, 0, err
		}
		other, err := b.serve(ctx, second)
		if err != nil {
			return 0, 0, 0, err
		}
		bases, rates = append(bases, one.Total.PerSecond), append(rates, other.Total.PerSecond)
		shares = append(shares, other.Total.PerSecond/one.Total.PerSecond)
	}
	return median(bases), median(rates), median(shares), nil
}

// scaled is n, or less in a quick run.
func (b *bencher) scaled(n int) int {
	if b.quick {
		return max(n/20, 1000)
	}
	return n
}
