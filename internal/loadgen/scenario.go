package loadgen

import (
	"math/rand/v2"
	"strings"
)

// Scenario says which requests a load is made of.
type Scenario struct {
	Name    string
	Summary string
	shares  []share
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
	guildPath    string // "/v2/levels/<guild>", after the address's own path
	messagesPath string // "/v2/guilds/<guild>/messages", likewise
	headers      string // what follows the path of a request: see target.headers
	members      int
	skew         Skew
	batch        Batch
	replay       *replay // nil when messages are made
	spoken       *messageCounts
	ledger       *ledger
}

// MessagesScenario is the name of the scenario that sends messages.
const MessagesScenario = "messages"

// Scenarios are all that there are, in the order of their presentation.
func Scenarios() []Scenario {
	return []Scenario{
		{"increment", "PATCH that increments a random member's XP: the heaviest write load", []share{{increment, 1}}},
		{"member", "GET of a random member with rank", []share{{readMember, 1}}},
		{"page", "GET of a random page among the first 100", []share{{readPage, 1}}},
		{"poll", "the same page requests with If-None-Match, as a dashboard polls", []share{{pollPage, 1}}},
		{"mixed", "90% increment, 5% member, 5% page", []share{{increment, 90}, {readMember, 5}, {readPage, 5}}},
		{MessagesScenario, "POST of messages as a busy community writes them; see --batch, --record and --replay", []share{{sendMessages, 1}}},
	}
}

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
	for _, share := range s.shares {
		if share.operation.changes {
			return true
		}
	}
	return false
}

// sendsMessages reports whether the scenario sends messages.
func (s Scenario) sendsMessages() bool { return s.Name == MessagesScenario }

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
