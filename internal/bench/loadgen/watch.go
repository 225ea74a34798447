package loadgen

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	oldestUnsaved = "levelboard_snapshot_oldest_unsaved_seconds"
	// BacklogGauge is the metric that counts members with a change that no snapshot holds.
	BacklogGauge = "levelboard_snapshot_backlog_members"
)

// Watched is what the service's metrics said while the load ran, once a second.
type Watched struct {
	Scrapes          int     `json:"scrapes"`
	Failures         int     `json:"failures"` // scrapes without an answer that can be read
	MaxOldestUnsaved float64 `json:"maxSnapshotOldestUnsavedSeconds"`
	MaxBacklog       float64 `json:"maxSnapshotBacklogMembers"`
}

// watch reads the metrics every second until ctx ends. The function that it returns reads them a last time, and returns what was
// seen; nil if base is empty.
func watch(ctx context.Context, base string) (end func() *Watched) {
	if base == "" {
		return func() *Watched { return nil }
	}
	w := &Watched{}
	look := func() {
		w.Scrapes++
		values, err := Gauges(context.WithoutCancel(ctx), base, oldestUnsaved, BacklogGauge)
		if err != nil {
			w.Failures++
			return
		}
		w.MaxOldestUnsaved, w.MaxBacklog = max(w.MaxOldestUnsaved, values[0]), max(w.MaxBacklog, values[1])
	}
	stop := every(time.Second, look)
	return func() *Watched {
		stop()
		look()
		return w
	}
}

// Gauges reads gauges and counters without labels of the service whose metrics are at base.
func Gauges(ctx context.Context, base string, names ...string) (values []float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		family := families[name]
		if family == nil || len(family.Metric) != 1 {
			return nil, fmt.Errorf("the service has no gauge or counter %s", name)
		}
		values = append(values, family.Metric[0].GetGauge().GetValue()+family.Metric[0].GetCounter().GetValue())
	}
	return values, nil
}
