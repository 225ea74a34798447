// Package health tells load balancers, orchestrators of containers and people whether the service can do its work, and which of its
// dependencies is not well. It repairs and restarts nothing.
package health

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/fault"
)

// Dependency is something that the service uses.
type Dependency struct {
	Name string
	// Needed says that nothing can be served without it. The state of another one is only told.
	Needed bool
	// Ping returns nil when the dependency is well, and an error for fault.ChangesRefused when it only answers reads. It must return soon after its
	// context ends.
	Ping func(ctx context.Context) error
}

// state is the state of one part of the service. Reason is empty when it is well, and never holds a password.
type state struct {
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
}

// The states of a dependency, and of the service itself.
const (
	isOK          = "ok"
	isUnreachable = "unreachable"
	isReadOnly    = "read-only"

	isStarting = "starting"
	isRunning  = "running"
	isStopping = "stopping"
)

// Monitor knows the service's phase and asks its dependencies. It is safe for concurrent use.
type Monitor struct {
	log      *slog.Logger
	patience time.Duration

	dependencies atomic.Pointer[[]Dependency] // nil until it runs
	stopping     atomic.Bool

	mu   sync.Mutex
	away map[string]bool // the dependencies that did not answer the last time
}

// New returns a Monitor of a service that starts. patience is how long a dependency may take to be called well.
func New(log *slog.Logger, patience time.Duration) *Monitor {
	return &Monitor{log: log, patience: patience, away: map[string]bool{}}
}

// Runs says that the service has started, and names its dependencies. Call it once.
func (m *Monitor) Runs(dependencies ...Dependency) { m.dependencies.Store(&dependencies) }

// Stops says that the service takes no more requests.
func (m *Monitor) Stops() { m.stopping.Store(true) }

// report asks all dependencies, or only the needed ones, at the same time. reason says why the service is not ready; it is empty when it is. parts are
// the service and the dependencies by name; optional ones only if they were asked.
func (m *Monitor) report(ctx context.Context, all bool) (reason string, parts map[string]state) {
	service := state{State: isRunning}
	dependencies := m.dependencies.Load()
	switch {
	case m.stopping.Load():
		service = state{State: isStopping, Reason: "it takes no more requests"}
	case dependencies == nil:
		service = state{State: isStarting, Reason: "it opens its stores"}
	}
	if service.State != isRunning {
		reason = "the service is " + service.State
	}
	parts = map[string]state{"service": service}
	if dependencies == nil || reason != "" && !all { // a store that does not answer must not hold up what is known
		return reason, parts
	}
	for i, is := range m.ask(ctx, *dependencies, all) {
		d := (*dependencies)[i]
		if is.State != "" {
			parts[d.Name] = is
		}
		if d.Needed && is.State == isUnreachable && reason == "" {
			reason = d.Name + ": " + is.Reason
		}
	}
	return reason, parts
}

// ask returns the states in the order of the dependencies; those that were not asked are empty.
func (m *Monitor) ask(ctx context.Context, dependencies []Dependency, all bool) []state {
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	states := make([]state, len(dependencies))
	var asked sync.WaitGroup
	for i, d := range dependencies {
		if !all && !d.Needed {
			continue
		}
		asked.Go(func() {
			err := d.Ping(ctx)
			switch {
			case err == nil:
				states[i] = state{State: isOK}
			case fault.ChangesRefused(err) != "":
				states[i] = state{State: isReadOnly, Reason: reason(err)}
				err = nil
			default:
				states[i] = state{State: isUnreachable, Reason: reason(err)}
			}
			m.note(ctx, d, err)
		})
	}
	asked.Wait()
	return states
}

// note logs when a dependency goes down and when it comes back.
func (m *Monitor) note(ctx context.Context, d Dependency, err error) {
	if context.Cause(ctx) == context.Canceled {
		return // who asked went away
	}
	m.mu.Lock()
	was := m.away[d.Name]
	m.away[d.Name] = err != nil
	m.mu.Unlock()
	switch {
	case err == nil && was:
		m.log.InfoContext(ctx, "a store responds again", "store", d.Name)
	case err == nil || was:
	case d.Needed:
		m.log.ErrorContext(ctx, "not ready: a store that every request needs does not respond; check that it runs and can be reached from here",
			"store", d.Name, "error", err)
	default:
		m.log.WarnContext(ctx, "a store does not respond; what is cached is served meanwhile: check that the store runs and can be reached from here",
			"store", d.Name, "error", err)
	}
}

// Live answers 200 as long as the process can answer at all. A supervisor must not restart for anything else: a restart mends no store.
func Live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte("ok\n"))
}

// Ready answers 200 while requests can be served and 503 otherwise, with a line that says why. With ?verbose it also asks optional dependencies, and
// answers with JSON: {"ready", "reason", "service": {"state", "reason"}, and the same for each dependency by its name}.
func (m *Monitor) Ready(w http.ResponseWriter, r *http.Request) {
	verbose := r.URL.Query().Has("verbose")
	reason, parts := m.report(r.Context(), verbose)
	status, text := http.StatusOK, "ok"
	if reason != "" {
		status, text = http.StatusServiceUnavailable, "not ready: "+reason
	}
	w.Header().Set("Cache-Control", "no-store")
	if !verbose {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text+"\n")
		return
	}
	document := map[string]any{"ready": reason == ""}
	if reason != "" {
		document["reason"] = reason
	}
	for name, is := range parts {
		document[name] = is
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, document, json.Deterministic(true))
	_, _ = io.WriteString(w, "\n")
}
