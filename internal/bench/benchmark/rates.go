package main

import (
	"context"
	"log"
	"os"
	"path/filepath"
)

// curve is how latency grows with the rate of one kind of request.
type curve struct {
	title  string
	points []point
}

// point is one rate of an open loop.
type point struct {
	rate, answered float64 // a second: due, and answered
	p50, p99       float64 // ms
	keptUp         bool
}

// steps are the rates as shares of the most that a closed loop got.
var steps = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}

// rates measures latency against rate, up to where the service does not keep up, and draws it.
func (b *bencher) rates(ctx context.Context) (string, error) {
	var curves []curve
	for _, c := range []struct{ title, scenario string }{{"increment", "increment"}, {"rank", "rank"}, {"page", "page"}} {
		log.Printf("rates: %s", c.title)
		closed, err := b.serve(ctx, load{scenario: c.scenario, members: ratioMembers})
		if err != nil {
			return "", err
		}
		drawn := curve{title: c.title}
		for _, step := range steps {
			rate := int(step * closed.Total.PerSecond)
			open, err := b.serve(ctx, load{scenario: c.scenario, members: ratioMembers, rate: max(rate, 1)})
			if err != nil {
				return "", err
			}
			l := open.Total.Latency
			drawn.points = append(drawn.points, point{float64(rate), open.Total.PerSecond, l.P50, l.P99, open.Open.KeptUp})
			if !open.Open.KeptUp {
				break
			}
		}
		curves = append(curves, drawn)
	}
	if b.docs != "" {
		if err := os.WriteFile(filepath.Join(b.docs, "latency.svg"), []byte(plot(curves)), 0o644); err != nil {
			return "", err
		}
	}
	return ratesTable(curves), nil
}

func ratesTable(curves []curve) string {
	t := table{header: []string{"work", "due a second", "answered a second", "p50 ms", "p99 ms", "kept up"}}
	for _, c := range curves {
		for _, p := range c.points {
			kept := "yes"
			if !p.keptUp {
				kept = "**no**"
			}
			t.add(c.title, whole(p.rate), whole(p.answered), fixed(p.p50), fixed(p.p99), kept)
		}
	}
	return t.String()
}
