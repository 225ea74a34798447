// Package health tells load balancers, container orchestrators and people whether the
// service can do its work, and which dependency fails. It repairs and restarts nothing.
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

// Dependency is a store that the service uses.
type Dependency struct {
	Name string
	// Needed says that nothing can be served without it. For other dependencies, Ready only reports the state.
	Needed bool
	// Ping returns nil when the dependency works. It returns an error that fault.ChangesRefused
	// explains when it answers reads only. It must return soon after its context ends.
	Ping func(ctx context.Context) error
}

// state is the state of one part of the service. Reason is empty for a working part, and never holds a password.
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

// Monitor knows the phase of the service, and pings its dependencies. It is safe for concurrent use.
type Monitor struct {
	log      *slog.Logger
	patience time.Duration

	dependencies atomic.Pointer[[]Dependency] // nil until Runs
	stopping     atomic.Bool

	mu   sync.Mutex
	away map[string]bool // the dependencies that did not answer the last ping
}

// New returns a Monitor of a service that is starting. A dependency that takes longer than patience to answer counts as down.
func New(log *slog.Logger, patience time.Duration) *Monitor {
	return &Monitor{log: log, patience: patience, away: map[string]bool{}}
}

// Runs says that the service has started, and with which dependencies. Call it once.
func (m *Monitor) Runs(dependencies ...Dependency) { m.dependencies.Store(&dependencies) }

// Stops says that the service accepts no more requests.
func (m *Monitor) Stops() { m.stopping.Store(true) }

// report pings all dependencies, or only the needed ones, at the same time. reason says why the service is not ready;
// it is empty if the service is ready. parts are the states of the service and of the pinged dependencies by name.
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
	if dependencies == nil || reason != "" && !all { // do not wait for a silent store when the answer is known
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

// ask returns the states in the order of the dependencies. The state of one that was not asked is empty.
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
		return // the client gave up
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
		m.log.WarnContext(ctx, "a store does not respond; cached data is served meanwhile: check that the store runs and can be reached from here",
			"store", d.Name, "error", err)
	}
}

// Live answers 200 as long as the process can answer at all. A supervisor must not restart it for another reason: a restart repairs no store.
func Live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte("ok\n"))
}

// Ready answers 200 while requests can be served, else 503, with a line that says why. With ?verbose it also pings optional dependencies,
// and answers with JSON: {"ready", "reason", "service": {"state", "reason"}, and the same for each dependency by its name}.
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
