package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/platform/pause"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/lease"
)

const (
	// groupsAtOnce is how many groups of guilds are written at the same time: while one waits
	// for the archive, another is read. More would leave too little of the machine for requests.
	groupsAtOnce = 2
	// tombstoneKeep is far longer than any batch can be underway.
	tombstoneKeep = 24 * time.Hour
	// requestSlack is how much longer the archive keeps a request than it may be repeated, since its clock and Redis' may differ.
	requestSlack = time.Hour
	purgeLimit   = 5000
	// mostTick bounds the pause between two renewals, so that takeovers are fast even
	// with a long interval. So are stops, which wait until another process renews.
	mostTick = 1250 * time.Millisecond
	// putBackTime bounds the end of a round in which guilds failed, most likely because Redis does not answer.
	putBackTime = 2 * time.Second
)

// Writer copies changed members to the archive. Of all replicas, one writes.
type Writer struct {
	live     Live
	archive  Archive
	loader   leaderboard.Loader
	interval time.Duration
	idle     time.Duration
	history  int // days
	requests time.Duration
	audit    int // days
	log      *slog.Logger
	bad      *BadRows
	lease    *lease.Elector

	mu        sync.Mutex // one round at a time; guards the fields below
	cutOff    bool       // the archive did not answer the last time
	lost      bool       // Redis did not answer the last round's call for the changed guilds
	lastRound time.Time  // when the last round began
	missed    time.Time  // when a round was last due that could not begin
	rounds    int
	sweeper   sweeper
	failing   map[id.Guild]int // in how many rounds in a row each guild failed

	// For the metrics, which do not wait for a round to end.
	underway atomic.Pointer[[]id.Guild] // taken out of the index, but not written yet
	loaded   atomic.Pointer[int]        // how many loaded guilds the last sweep found; nil before the first
}

// WriterOptions are what a Writer needs. Idle, the days and OnceTTL may be zero.
type WriterOptions struct {
	Holder   string        // names this process among the replicas
	Interval time.Duration // between two rounds
	// Idle is how long a guild must be unused before it leaves the live store; 0 means never. Uses must be noted with the same time (NewUses).
	Idle                   time.Duration
	HistoryDays, AuditDays int // days that the archive keeps Keep.History and Keep.Audit; 0 means forever
	// OnceTTL is how long a request may be repeated; 0 means leaderboard.OnceTTL.
	OnceTTL time.Duration
	Log     *slog.Logger
}

// NewWriter returns a Writer. loader loads guilds that were not compared with the archive since the live store came back.
func NewWriter(live Live, archive Archive, loader leaderboard.Loader, o WriterOptions) *Writer {
	w := &Writer{
		live: live, archive: archive, loader: loader, interval: o.Interval, idle: o.Idle, history: o.HistoryDays, audit: o.AuditDays, log: o.Log,
		requests: cmp.Or(o.OnceTTL, leaderboard.OnceTTL) + requestSlack,
		bad:      NewBadRows(o.Log), failing: map[id.Guild]int{},
	}
	w.lease = lease.New(archive, o.Holder, max(5*w.tickTime(), 100*time.Millisecond))
	w.underway.Store(new([]id.Guild))
	return w
}

// Lease returns the lease under which this process writes. held is false if another process holds it. It is safe for concurrent use.
func (w *Writer) Lease() (lease.Lease, bool) { return w.lease.Lease(), w.lease.Held() }

// Run writes until ctx ends. It renews the lease, or tries to take it, four times an interval and at least every
// 1.25 s. A lease lasts five times as long, so that another replica takes over from a dead one within two intervals.
func (w *Writer) Run(ctx context.Context) {
	ticker := time.NewTicker(w.tickTime())
	defer ticker.Stop()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unlist()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		w.tick(ctx)
	}
}

func (w *Writer) tick(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.takeLease(ctx) || !w.passed(w.lastRound) {
		return
	}
	// A failure is logged and counted where it happens, and retried in the next round.
	_ = w.round(ctx, false)
}

// tickTime returns the pause between two calls that renew or take the lease.
func (w *Writer) tickTime() time.Duration { return min(max(w.interval/4, time.Millisecond), mostTick) }

// takeLease renews or takes the lease, and reports whether this process holds it.
func (w *Writer) takeLease(ctx context.Context) bool {
	change, err := w.lease.Take(ctx)
	if change.Lost {
		leasesLost.Inc()
	}
	if change.Gained {
		w.rounds = 0 // a new holder surveys all guilds: this finds those that the last holder had taken out of the index
		w.log.InfoContext(ctx, "this process writes the snapshots now", "fence", w.lease.Lease().Fence)
	}
	switch {
	case err == nil:
		w.cutOff = false
	case errors.Is(err, lease.ErrLost):
		w.cutOff = false
		if change.Lost {
			w.log.WarnContext(ctx, "the snapshot lease passed to another replica, which writes now; if this repeats, find out what delays this replica")
		}
	case ctx.Err() == nil:
		if !w.cutOff {
			w.log.ErrorContext(ctx, "the archive does not respond; changes wait in Redis: check the archive, and keep Redis running", "error", err)
		}
		w.cutOff = true
		if w.passed(w.lastRound) && w.passed(w.missed) {
			w.missed = time.Now()
			failures.Inc()
		}
	}
	return err == nil
}

// passed reports whether an interval has passed since a time. A tick that is early by less than half of tickTime counts.
func (w *Writer) passed(since time.Time) bool {
	return time.Since(since) >= w.interval-w.tickTime()/2
}

// round writes every guild in the index of changed ones, and the changed ones of the sweep's next share; the first round sweeps all.
// It renews the lease meanwhile, and ends early if the lease is lost. In a hurry it leaves nothing for later, and purges nothing.
func (w *Writer) round(ctx context.Context, hurry bool) error {
	began, periodic := time.Now(), w.rounds%sweepEvery == 0
	life := ctx // the listing of all guilds may outlive the round
	ctx, stop := w.lease.Keep(ctx)
	defer stop()
	r := &round{Writer: w, hurry: hurry, taken: map[id.Guild]bool{}, failed: map[id.Guild]error{}}
	w.lastRound = began
	changed, err := w.live.ChangedGuilds(ctx)
	w.underway.Store(&changed)
	r.write(ctx, changed)
	// In a cluster the index's node may be down while other nodes hold changed guilds.
	w.beginSweep(life, periodic)
	w.rounds++
	err = errors.Join(err, r.sweep(ctx))
	if err != nil {
		w.rounds = 0 // a sweep finds guilds that were taken out of the index and not written
		if !w.lost && ctx.Err() == nil {
			w.lost = true
			w.log.WarnContext(ctx, "the changed guilds could not be read from Redis; the service tries again every interval: check Redis", "error", err)
		}
	} else if w.lost {
		w.lost = false
		w.log.InfoContext(ctx, "the changed guilds are read from Redis again")
	}
	r.report(ctx)
	r.putBack(ctx, slices.Collect(maps.Keys(r.failed)))
	w.underway.Store(new([]id.Guild))
	if !hurry {
		w.sweeper.cold = w.evict(ctx, w.sweeper.cold)
		if periodic {
			w.Purge(ctx)
		}
	}
	duration.Observe(time.Since(began).Seconds())
	return errors.Join(err, r.first)
}

// replicaPause is the pause between two attempts of a last snapshot while too few replicas have its reads.
const replicaPause = 100 * time.Millisecond

// Flush writes all changes made until now, before a process ends; call Release after it. It returns nil if this process, or another
// holder of the lease, has archived everything, and otherwise the first error. It waits for lagging replicas until ctx ends.
func (w *Writer) Flush(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.unlist()
	for {
		mine, err := w.lease.TakeLast(ctx)
		if err != nil {
			return fmt.Errorf("flush: %w", err)
		}
		if !mine {
			return nil
		}
		w.rounds = 0
		err = w.round(ctx, true)
		switch {
		case errors.Is(err, lease.ErrLost): // another process has taken the lease
		case errors.Is(err, leaderboard.ErrNotReplicated) && pause.For(ctx, replicaPause):
		default:
			return err
		}
	}
}

// Release releases the lease, so that another replica can take it at once.
func (w *Writer) Release(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lease.Release(ctx)
}

// Import writes members straight into the archive. The guild must not be loaded. Import takes the lease if
// necessary, so that no round runs meanwhile. The rows have the guild's next rev, and so replace older ones.
func (w *Writer) Import(ctx context.Context, g leaderboard.GuildRef, rows []Row) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.takeLease(ctx) {
		return fmt.Errorf("import into guild %s: %w", g.ID, lease.ErrLost)
	}
	state, err := w.archive.State(ctx, g)
	if err != nil {
		return fmt.Errorf("import into guild %s: %w", g.ID, err)
	}
	found := w.live.ReadChanges(ctx, []id.Guild{g.ID}, 1)[0]
	if found.Err != nil {
		return fmt.Errorf("import into guild %s: %w", g.ID, found.Err)
	}
	if found.Batch.Guild.ID != "" {
		return fmt.Errorf("import into guild %s: it is loaded, and its members in Redis would win", g.ID)
	}
	for part := range slices.Chunk(rows, pageSize) {
		batch := Batch{Guild: g, Epoch: state.Epoch, Rev: state.Archived + 1, Known: state.Archived + 1, Rows: part}
		if err := WriteBatch(ctx, w.archive, w.lease.Lease(), batch); err != nil {
			return fmt.Errorf("import into guild %s: %w", g.ID, err)
		}
	}
	return nil
}
