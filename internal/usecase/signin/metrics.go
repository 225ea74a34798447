package signin

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// What becomes of asking the provider.
const (
	ok      = "ok"
	refused = "refused"
	failed  = "failed"
)

var (
	signIns = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "levelboard_sign_ins_total",
		Help: "Sign-ins that came back from the provider: ok, refused (the user does not allow it, or it does not take the code), failed (it sent back another error, or it or Redis could not be asked).",
	}, []string{"outcome"})
	refreshes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "levelboard_session_refreshes_total",
		Help: "How often the provider was asked again about a session: ok, refused (the session is ended), failed (it could not be asked).",
	}, []string{"outcome"})
)

// Every outcome is there from the start, or the first one of a kind would not show as an increase.
func init() {
	for _, outcome := range []string{ok, refused, failed} {
		signIns.WithLabelValues(outcome)
		refreshes.WithLabelValues(outcome)
	}
}

// Collectors are the metrics of this package.
func Collectors() []prometheus.Collector { return []prometheus.Collector{signIns, refreshes} }

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return ok
	case errors.Is(err, ErrRefused):
		return refused
	default:
		return failed
	}
}
