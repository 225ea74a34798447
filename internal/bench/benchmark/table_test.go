package main

import (
	"strings"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		of   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{7, 100, 1}, 7}} {
		if got := median(test.of); got != test.want {
			t.Errorf("the median of %v is %v, not %v", test.of, got, test.want)
		}
	}
}

// The middle round has the middle ratio, whatever the rates of the others are: one machine was slow for both.
func TestRatiosAreOfOneRoundEach(t *testing.T) {
	text := ratioTable([]measuredAim{
		{aim: aims[0], rate: []float64{10, 50, 600}, floorRate: []float64{10, 100, 1000}, p50: []float64{1}, p99: []float64{4.5}, spread: []float64{4.5}},
		{aim: aim{"page", "page", "top100", "read and encode", 0.5, 0, false}, rate: []float64{12345}, floorRate: []float64{30000}, p50: []float64{1}, p99: []float64{3}, spread: []float64{3}, writes: []float64{999.6}},
	})
	for _, want := range []string{
		"| increment | bare Gin PATCH | 0.60 | at least 0.5 | 50 | 100 | 1.00 | 4.50 | **4.50: missed** |\n",
		"| page | read and encode | **0.41: missed** | at least 0.5 | 12,345 | 30,000 | 1.00 | 3.00 | 3.00 |\n",
		"\nThe increments beside the pages came at 1,000 a second, of 1,000 asked for.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	header, rule, _ := strings.Cut(text, "\n")
	if rule, _, _ = strings.Cut(rule, "\n"); strings.Count(header, "|") != strings.Count(rule, "|") {
		t.Errorf("%s\n%s", header, rule)
	}
}

func TestTheOtherTables(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"messages": {
			messagesTable([]measuredBatch{{batchAim: batchAims[2], messages: []float64{69}, bare: []float64{100}, authors: []float64{0.5}, p50: []float64{1}, p99: []float64{2}, resident: 51_600_000}}),
			[]string{"| 100 | **0.69: missed** | at least 0.7 | 69 | 100 | 0.50 | 1.00 | 2.00 | 52 |"},
		},
		"size": {
			sizes{members: 1000, parts: []keySize{{"xp", 110_000}}, difference: 351_000, idle: 29_000_000, loaded: 121_000_000, start: []float64{20, 40, 30}}.table(),
			[]string{"xp (MEMORY USAGE) | 110.0 |", "| **351.00: missed** | at most 350 |", "| 29.00 | under 30 |", "| **121.00: missed** | under 120 |", "| 30.00 | under 100 |", "With 1,000 members"},
		},
		"growth": {
			growthTable(boards{small: 10}, "by all members", []grown{
				{title: "1,000 members", increment: grownRates{small: []float64{100, 50}, all: []float64{90, 45}}, rank: grownRates{small: []float64{10, 10}, all: []float64{7, 7}}},
				{title: "2,000 members", increment: grownRates{small: []float64{200, 60}, all: []float64{100, 48}}, rank: grownRates{small: []float64{12, 12}, all: []float64{12, 12}}},
			}, func(r grownRates) []float64 { return r.all }),
			[]string{
				"| increments a second, by all members |", "| 10 members | 80 | 1.00 | 11 | 1.00 |",
				"| 1,000 members | 68 | 0.90 | 7 | **0.70: missed** |", "| 2,000 members | 74 | **0.65: missed** | 12 | 1.00 |",
			},
		},
		"pages": {
			pagesTable(boards{large: 1_000_000, farPage: 10_000}, []float64{100}, []float64{85}),
			[]string{"| page of 1,000,000 members |", "| 10,000 | 85 | 0.85 |"},
		},
		"rates": {
			ratesTable([]curve{{"rank", []point{{1000, 999, 0.5, 2, true}, {2000, 1500, 300, 800, false}}}}),
			[]string{"| rank | 1,000 | 999 | 0.50 | 2.00 | yes |", "| rank | 2,000 | 1,500 | 300.00 | 800.00 | **no** |"},
		},
	} {
		for _, want := range test.want {
			if !strings.Contains(test.text, want) {
				t.Errorf("%s: no %q in\n%s", name, want, test.text)
			}
		}
	}
}

func TestReadBare(t *testing.T) {
	const said = `BenchmarkAwardBare/traffic/batch=1/goroutines=16-2       	   39056	     51208 ns/op	     19528 messages/s
BenchmarkAwardBare/traffic/batch=10/goroutines=16-2      	   20000	     93440 ns/op	    107020 messages/s
BenchmarkAwardBare/traffic/batch=100/goroutines=16-2     	    4832	    413897 ns/op	    241606 messages/s
BenchmarkAwardBare/traffic/batch=1000/goroutines=16-2    	     923	   2165607 ns/op	    461746 messages/s
BenchmarkAwardBare/zipf/chunk=100/goroutines=16-2        	    2840	    704225 ns/op	    142000 members/s	       401.5 µs/script
PASS
`
	rates, err := readBare([]byte(said))
	if err != nil || rates.messages[1] != 19528 || rates.messages[1000] != 461746 || rates.members != 142000 {
		t.Errorf("%+v, %v", rates, err)
	}
	if _, err := readBare([]byte(strings.Replace(said, "batch=100/", "batch=7/", 1))); err == nil {
		t.Error("a rate that is not there is taken for one")
	}
}
