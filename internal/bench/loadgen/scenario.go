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
	// writers is how many increments a second, evenly spread, are made beside the measured requests; 0 for none.
	writers int
	spreads bool // over several guilds
	pages   bool // whether it reads pages
}

// share is how often a scenario draws an operation, in relation to its other shares.
type share struct {
	operation operation
	weight    int
}

// operation is one kind of request.
type operation struct {
	name    string
	changes bool // whether it changes XP
	start   func(s *shared, r *rand.Rand) step
}

// step makes the requests of one operation on one connection, one after another.
type step interface {
	// next appends the bytes of a complete request to b. It reports false when there is nothing left to ask.
	next(b []byte) ([]byte, bool)
	// settle is told what became of the request that next made last, and reports whether it is what should come. The
	// answer is the zero value when the request was sent and none came.
	settle(a answer) bool
}

// bodyReader is a step that looks at the bodies of answers.
type bodyReader interface{ readsBody() }

// shared is what all connections of a run share.
type shared struct {
	levelsPath string   // "/v2/levels/", after the address's own path
	guildsPath string   // "/v2/guilds/", likewise
	headers    []string // by key, what follows the path of a request: see target.headers
	crowded
	plain  bool // pages are asked for without Accept-Encoding: gzip
	page   int  // the only one that is asked for; 0 when several are
	skew   Skew
	active int // members that are drawn, from the first on
	batch  Batch
	replay *replay // nil when messages are made
	spoken *messageCounts
	ledger *ledger
}

// MessagesScenario is the name of the scenario that sends messages.
const MessagesScenario = "messages"

// Scenarios are all that there are, in the order of their presentation.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "increment", Summary: "PATCH that increments a random member's XP: the heaviest write load", shares: []share{{increment, 1}}, spreads: true},
		{Name: "rank", Summary: "GET of a random member with rank", shares: []share{{readRank, 1}}, spreads: true},
		{Name: "page", Summary: "GET of a random page among the first 100, of a board that does not change", shares: []share{{readPage, 1}}, pages: true},
		{Name: "page-while-writing", Summary: "the same while 1000 increments a second change the board; only the pages are counted",
			shares: []share{{readPage, 1}}, writers: 1000, pages: true},
		{Name: "poll", Summary: "the page requests with If-None-Match, as a dashboard polls", shares: []share{{pollPage, 1}}, pages: true},
		{Name: MessagesScenario, Summary: "POST of messages as a busy community writes them; see --batch, --record and --replay", shares: []share{{sendMessages, 1}}},
		{Name: "mixed", Summary: "a busy guild's day: 30% rank, 30% messages (batch mixed), 20% poll, 10% page, 10% increment", shares: mixed, pages: true},
	}
}

var mixed = []share{{readRank, 30}, {sendMessages, 30}, {pollPage, 20}, {readPage, 10}, {increment, 10}}

// FindScenario returns the scenario of that name.
func FindScenario(name string) (Scenario, bool) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// ScenarioNames lists the scenarios' names, with commas.
func ScenarioNames() string {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// Changes reports whether the scenario changes XP.
func (s Scenario) Changes() bool {
	return s.writers > 0 || slices.ContainsFunc(s.shares, func(s share) bool { return s.operation.changes })
}

// Spreads reports whether the scenario is for several guilds too.
func (s Scenario) Spreads() bool { return s.spreads }

// ReadsPages reports whether the scenario reads pages.
func (s Scenario) ReadsPages() bool { return s.pages }

// sendsMessages reports whether the scenario sends messages.
func (s Scenario) sendsMessages() bool {
	return slices.ContainsFunc(s.shares, func(s share) bool { return s.operation.name == MessagesScenario })
}

// mix draws a scenario's operations for one connection.
type mix struct {
	steps   []step
	weights []int
	total   int
	r       *rand.Rand
}

func newMix(shares []share, s *shared, r *rand.Rand) *mix {
	m := &mix{r: r}
	for _, share := range shares {
		m.steps = append(m.steps, share.operation.start(s, r))
		m.weights = append(m.weights, share.weight)
		m.total += share.weight
	}
	return m
}

// draw returns the index of the next operation.
func (m *mix) draw() int {
	if len(m.steps) == 1 {
		return 0
	}
	n := m.r.IntN(m.total)
	for i, weight := range m.weights {
		if n -= weight; n < 0 {
			return i
		}
	}
	return len(m.weights) - 1
}
