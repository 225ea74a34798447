package hydrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/singleflight"

	"levelboard/internal/platform/logs"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

const (
	// loadTimeout bounds one load, however many requests wait for it. Each request waits until its own deadline at most.
	loadTimeout = 5 * time.Minute
	// If another replica is loading the guild, this one checks after busyWait whether it is done,
	// then after twice that, and so on up to busyWaitMost. Each check costs the archive a query.
	busyWait     = 10 * time.Millisecond
	busyWaitMost = 500 * time.Millisecond
)

// Hydrator loads guilds from the archive into the live store. Nothing else does. Close it at the end.
type Hydrator struct {
	live    Live
	archive Archive
	log     *slog.Logger
	bad     *snapshot.BadRows

	flights singleflight.Group
	loading sync.Map // the leaderboard.GuildRef of each guild that this or another replica is loading
	ctx     context.Context
	cancel  context.CancelFunc
	mu      sync.Mutex // guards closed, so that no load starts after it is set
	closed  bool
	running sync.WaitGroup
}

// New returns a Hydrator between two stores.
func New(live Live, archive Archive, log *slog.Logger) *Hydrator {
	ctx, cancel := context.WithCancel(context.Background())
	return &Hydrator{live: live, archive: archive, log: log, bad: snapshot.NewBadRows(log), ctx: ctx, cancel: cancel}
}

// Close cancels loads and waits for their end. No reader sees a partly loaded guild.
func (h *Hydrator) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.running.Wait()
}

// Load loads the guild if the live store does not hold this incarnation. Of all callers on all replicas, one loads and the others wait. At its
// own deadline, a caller gets leaderboard.ErrStillLoading. It returns leaderboard.ErrGuildMoved if the archive does not know the incarnation.
func (h *Hydrator) Load(ctx context.Context, g leaderboard.GuildRef) error {
	return h.shared(ctx, g, "load", h.load)
}

// shared runs do once for all concurrent callers about a guild.
func (h *Hydrator) shared(ctx context.Context, g leaderboard.GuildRef, what string, do func(context.Context, leaderboard.GuildRef) error) error {
	done := h.flights.DoChan(fmt.Sprintf("%s/%s/%d/%d", what, g.ID, g.Incarnation, g.Hidden), func() (any, error) {
		if !h.enter() {
			return nil, context.Canceled
		}
		defer h.running.Done()
		defer h.loading.Delete(g)
		// Detach it from the first request, except for its log attributes and trace: the other callers have other deadlines.
		traced, span := h.traced(ctx)
		defer span.End()
		ctx, cancel := context.WithTimeout(logs.With(traced, logs.Attrs(ctx)...), loadTimeout)
		defer cancel()
		return nil, do(ctx, g)
	})
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		cause := ctx.Err()
		if _, loading := h.loading.Load(g); loading { // otherwise a store may be silent
			cause = fmt.Errorf("%w: %w", leaderboard.ErrStillLoading, cause)
		}
		return fmt.Errorf("wait for the hydration of guild %s: %w", g.ID, cause)
	}
}

// Past implements leaderboard.Loader.
func (h *Hydrator) Past(ctx context.Context, g leaderboard.GuildRef, name leaderboard.Digest) (*leaderboard.Past, error) {
	return h.archive.Past(ctx, g, name)
}

func (h *Hydrator) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.running.Add(1)
	return true
}

func (h *Hydrator) load(ctx context.Context, g leaderboard.GuildRef) error {
	for wait := busyWait; ; wait = min(2*wait, busyWaitMost) {
		done, err := h.attempt(ctx, g)
		if done && err == nil {
			done, err = h.copyHidden(ctx, g)
		}
		if done || (err != nil && !errors.Is(err, ErrLost)) {
			return err
		}
		if !pause.For(ctx, wait) {
			return fmt.Errorf("hydrate guild %s: %w", g.ID, ctx.Err())
		}
	}
}

// traced returns h's own context in the trace of the request that began a load,
// with a span for the load. If that request is not traced, neither is the load.
func (h *Hydrator) traced(request context.Context) (context.Context, trace.Span) {
	caller := trace.SpanFromContext(request)
	if !caller.IsRecording() {
		return h.ctx, trace.SpanFromContext(h.ctx)
	}
	return caller.TracerProvider().Tracer("levelboard").Start(trace.ContextWithSpan(h.ctx, caller), "load the guild")
}

var (
	wentBack = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_redis_went_back_total",
		Help: "Guilds found older in Redis than in the archive, and loaded again.",
	})
	hydrations = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "levelboard_hydrations_total",
		Help: "Guilds loaded from the archive into Redis.",
	})
	hydrationDuration = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "levelboard_hydration_duration_seconds",
		Help:    "Time of a successful load of a guild from the archive into Redis.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
	})
)

// Collectors returns the metrics of this package.
func Collectors() []prometheus.Collector {
	return []prometheus.Collector{wentBack, hydrations, hydrationDuration}
}
