package health

import (
	"encoding/json"
	"net/http"
)

// Live answers 200 as long as the process can answer at all. Whoever restarts what is not alive must not ask for more: a
// restart mends no store.
func Live(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte("ok\n"))
}

// Ready answers 200 while requests can be served and 503 else, with one line that says why. With ?verbose it asks what is
// not needed too, and answers with JSON: {"ready", "reason", "service": {"state", "reason"}, and the same for each
// dependency by its name}.
func (m *Monitor) Ready(w http.ResponseWriter, r *http.Request) {
	verbose := r.URL.Query().Has("verbose")
	report := m.Report(r.Context(), verbose)
	status := http.StatusOK
	if !report.Ready {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Cache-Control", "no-store")
	if verbose {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(report.document())
		return
	}
	text := "ok"
	if !report.Ready {
		text = "not ready: " + report.Reason
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text + "\n"))
}

func (r Report) document() map[string]any {
	document := map[string]any{"ready": r.Ready, "service": r.Service}
	if r.Reason != "" {
		document["reason"] = r.Reason
	}
	for name, state := range r.Dependencies {
		document[name] = state
	}
	return document
}
