package loadgen

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Request is one request that [Ask] makes.
type Request struct {
	Method string
	Path   string // with its query, as it goes over the wire
	Body   string // JSON; empty for none
}

// AskOptions say what to ask of a server that need not be a Levelboard. Name, URL, Requests, Concurrency and Duration are required.
type AskOptions struct {
	Name        string // of the measured operation
	URL         string // base of the server, http:// or https://, without slashes at its end
	Requests    []Request
	Concurrency int // connections, each with one request at a time; 1 to MaxConcurrency
	Rate        int // as in Options
	Duration    time.Duration
	Seed        uint64
}

// Ask measures how a server answers requests that are drawn at random, each of which should come back as 200. It is the same
// client as Run's, with headers as long, so that the two can be compared; it makes and removes nothing.
func Ask(ctx context.Context, o AskOptions) (*Result, error) {
	target, err := newTarget(o.URL)
	if err != nil {
		return nil, err
	}
	asked := askOperation(o.Name, prepareRequests(o.Requests, target))
	b := &bench{target: target, crowded: crowded{len(o.Requests), 1, 0}, Options: Options{
		URL: o.URL, Scenario: Scenario{Name: o.Name, shares: []share{{asked, 1}}},
		Concurrency: o.Concurrency, Rate: o.Rate, Duration: o.Duration, Members: len(o.Requests), Skew: Uniform, Seed: o.Seed, Progress: func(string) {},
	}}
	result := b.load(ctx, nil)
	return result, result.Problem()
}

// noKey is as long as an API key.
var noKey = "lb_" + strings.Repeat("0", 50)

// prepareRequests are the requests' bytes.
func prepareRequests(requests []Request, target *target) [][]byte {
	var prepared [][]byte
	for _, r := range requests {
		b := []byte(r.Method + " " + target.prefix + r.Path + target.headers(noKey))
		if r.Body == "" {
			b = append(b, "\r\n"...)
		} else {
			b = append(appendBodyHeaders(b, len(r.Body)), r.Body...)
		}
		prepared = append(prepared, b)
	}
	return prepared
}

func askOperation(name string, requests [][]byte) operation {
	return operation{name: name, start: func(_ *shared, r *rand.Rand) step { return &askStep{requests, r} }}
}

type askStep struct {
	requests [][]byte
	r        *rand.Rand
}

func (s *askStep) next(b []byte) ([]byte, bool) {
	if len(s.requests) == 1 {
		return append(b, s.requests[0]...), true
	}
	return append(b, s.requests[s.r.IntN(len(s.requests))]...), true
}

func (*askStep) settle(a answer) bool { return a.status == http.StatusOK }

// incrementBody is what the scenario increment sends to add n.
func incrementBody(n int) string { return `{"xp":{"increment":` + strconv.Itoa(n) + `}}` }

// floorMembers is how many members the floor's board has, from firstUser on.
const floorMembers = 100_000

// FloorRequests are the requests that measure a route of internal/bench/floor: get, patch, zincrby or top100.
func FloorRequests(route string) (requests []Request, found bool) {
	switch route {
	case "get", "top100":
		return []Request{{http.MethodGet, "/" + route, ""}}, true
	case "patch":
		return []Request{{http.MethodPatch, "/patch", incrementBody(7)}}, true
	case "zincrby":
		for member := range floorMembers {
			path := appendUserID([]byte("/zincrby/"), member)
			requests = append(requests, Request{http.MethodPatch, string(path), incrementBody(1 + member%maxIncrement)})
		}
		return requests, true
	}
	return nil, false
}
