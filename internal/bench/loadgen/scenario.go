package loadgen

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Scenario says which requests a load is made of.
type Scenario struct {
	Name    string
	Summary string
	shares  []share
	writers int  // increments a second beside the measured requests; 0 for none
	spreads bool // over several guilds
	pages   bool // reads pages
}

// share is how often a scenario draws an operation, in relation to its other shares.
type share struct {
	operation operation
	weight    int
}

// operation is one kind of request.
type operation struct {
	name    string
	changes bool // changes XP
	start   func(b *bench, r *rand.Rand) step
}

// step makes the requests of one operation on one connection, one after another.
type step interface {
	next() request
	// settle gets the answer to the last request, and reports if it is as it should be.
	settle(answer) bool
}

// MessagesScenario is the name of the scenario that sends messages.
const MessagesScenario = "messages"

// Scenarios returns all scenarios, in the order of their presentation.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "increment", Summary: "PATCH that increments a random member's XP: the heaviest write load", shares: []share{{increment, 1}}, spreads: true},
		{Name: "rank", Summary: "GET of a random member with rank", shares: []share{{readRank, 1}}, spreads: true},
		{Name: "page", Summary: "GET of a random page among the first 100, of a board that does not change", shares: []share{{readPage, 1}}, pages: true},
		{Name: "page-while-writing", Summary: "the same while 1000 increments a second change the board; only the pages are counted",
			shares: []share{{readPage, 1}}, writers: 1000, pages: true},
		{Name: "poll", Summary: "the page requests with If-None-Match, as a dashboard polls", shares: []share{{pollPage, 1}}, pages: true},
		{Name: MessagesScenario, Summary: "POST of messages as a busy community writes them; see --batch", shares: []share{{sendMessages, 1}}},
		{Name: "mixed", Summary: "a busy guild's day: 30% rank, 30% messages (batch mixed), 20% poll, 10% page, 10% increment", shares: mixed, pages: true},
	}
}

var mixed = []share{{readRank, 30}, {sendMessages, 30}, {pollPage, 20}, {readPage, 10}, {increment, 10}}

// FindScenario returns the scenario of that name.
func FindScenario(name string) (Scenario, bool) {
	all := Scenarios()
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return Scenario{}, false
	}
	return all[i], true
}

// ScenarioNames lists the scenarios' names, with commas.
func ScenarioNames() string {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// Changes reports if the scenario changes XP.
func (s Scenario) Changes() bool {
	return s.writers > 0 || slices.ContainsFunc(s.shares, func(s share) bool { return s.operation.changes })
}

// Spreads reports if the scenario can spread its members over several guilds.
func (s Scenario) Spreads() bool { return s.spreads }

// ReadsPages reports if the scenario reads pages.
func (s Scenario) ReadsPages() bool { return s.pages }

// sendsMessages reports if the scenario sends messages.
func (s Scenario) sendsMessages() bool {
	return slices.ContainsFunc(s.shares, func(s share) bool { return s.operation.name == MessagesScenario })
}

// mix draws a scenario's operations for one connection.
type mix struct {
	steps   []step
	weights []int // a running sum
	r       *rand.Rand
}

func newMix(b *bench, shares []share, r *rand.Rand) *mix {
	m, total := &mix{r: r}, 0
	for _, share := range shares {
		total += share.weight
		m.steps, m.weights = append(m.steps, share.operation.start(b, r)), append(m.weights, total)
	}
	return m
}

// draw returns the index of the next operation.
func (m *mix) draw() int {
	n := m.r.IntN(m.weights[len(m.weights)-1])
	return slices.IndexFunc(m.weights, func(weight int) bool { return n < weight })
}

// Skew says how often each member is drawn.
type Skew string

const (
	// Uniform draws every member equally often.
	Uniform Skew = "uniform"
	// Zipf draws few members most of the time, as few write most of a community's messages.
	Zipf Skew = "zipf"
)

// Valid reports if the skew is one of the above.
func (s Skew) Valid() bool { return s == Uniform || s == Zipf }

// drawer returns a source of numbers from 0 to n-1.
func (s Skew) drawer(r *rand.Rand, n int) func() int {
	if s == Zipf && n > 1 {
		zipf := rand.NewZipf(r, 1.07, 20, uint64(n-1))
		return func() int { return int(zipf.Uint64()) }
	}
	return func() int { return r.IntN(n) }
}
