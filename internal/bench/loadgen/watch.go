package loadgen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	watchInterval = time.Second
	// scrapeTime bounds one read of the metrics, and scrapeBytes its answer.
	scrapeTime  = 3 * time.Second
	scrapeBytes = 16 << 20
)

// The gauges of the snapshot writer that are watched.
const (
	oldestUnsaved = "levelboard_snapshot_oldest_unsaved_seconds"
	backlog       = "levelboard_snapshot_backlog_members"
)

// Watched is what the service's metrics said while the load ran, once a second.
type Watched struct {
	Scrapes  int `json:"scrapes"`
	Failures int `json:"failures"` // scrapes without an answer that can be read
	// OldestUnsaved is the age in seconds of the oldest change that no snapshot holds, Backlog the number of members with
	// such a change; nil when the service does not say.
	OldestUnsaved *Gauge `json:"snapshotOldestUnsavedSeconds"`
	Backlog       *Gauge `json:"snapshotBacklogMembers"`
}

// Gauge is the largest and the last value of a metric.
type Gauge struct {
	Max  float64 `json:"max"`
	Last float64 `json:"last"`
}

// watch reads the metrics at once and then every second until ctx ends. The function that it returns waits for that, reads
// them a last time, and returns what was seen; nil when base is empty.
func watch(ctx context.Context, base string) (end func() *Watched) {
	if base == "" {
		return func() *Watched { return nil }
	}
	transport := &http.Transport{}
	w := &watcher{address: base + "/metrics", client: &http.Client{Transport: transport, Timeout: scrapeTime}}
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(watchInterval)
		defer ticker.Stop()
		for ctx.Err() == nil {
			w.look(context.WithoutCancel(ctx))
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	})
	return func() *Watched {
		group.Wait()
		w.look(context.WithoutCancel(ctx))
		transport.CloseIdleConnections()
		return &w.seen
	}
}

// watcher belongs to one goroutine at a time.
type watcher struct {
	address string
	client  *http.Client
	seen    Watched
}

func (w *watcher) look(ctx context.Context) {
	w.seen.Scrapes++
	values, err := w.scrape(ctx)
	if err != nil {
		w.seen.Failures++
		return
	}
	note(&w.seen.OldestUnsaved, values[oldestUnsaved])
	note(&w.seen.Backlog, values[backlog])
}

// scrape returns the values of the gauges that the service has.
func (w *watcher) scrape(ctx context.Context) (map[string]*float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.address, nil)
	if err != nil {
		return nil, err
	}
	response, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(io.LimitReader(response.Body, scrapeBytes))
	if err != nil {
		return nil, err
	}
	values := map[string]*float64{}
	for _, name := range []string{oldestUnsaved, backlog} {
		if family := families[name]; family != nil && len(family.Metric) == 1 && family.Metric[0].Gauge != nil {
			values[name] = family.Metric[0].Gauge.Value
		}
	}
	return values, nil
}

func note(gauge **Gauge, value *float64) {
	if value == nil {
		return
	}
	if *gauge == nil {
		*gauge = &Gauge{Max: *value}
	}
	(*gauge).Max, (*gauge).Last = max((*gauge).Max, *value), *value
}

func (w *Watched) sentences() []string {
	var lines []string
	if w.Failures > 0 {
		lines = append(lines, fmt.Sprintf("The service's metrics could not be read %d times of %d.", w.Failures, w.Scrapes))
		if w.Failures == w.Scrapes {
			return lines
		}
	}
	var missing []string
	if g := w.OldestUnsaved; g != nil {
		lines = append(lines, fmt.Sprintf("Oldest change without a snapshot: %.1f s at most, %.1f s at the end.", g.Max, g.Last))
	} else {
		missing = append(missing, oldestUnsaved)
	}
	if g := w.Backlog; g != nil {
		lines = append(lines, fmt.Sprintf("Members without a snapshot: %s at most, %s at the end.", grouped(int64(g.Max)), grouped(int64(g.Last))))
	} else {
		missing = append(missing, backlog)
	}
	if len(missing) > 0 {
		lines = append(lines, "The service has no metric "+strings.Join(missing, " and no ")+".")
	}
	return lines
}
