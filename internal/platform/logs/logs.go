// Package logs is what every line of the service's log goes through: it gets what its context knows of the request that it belongs to, and
// the same line again and again is held back. It does not format or write lines.
package logs

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

type attrsKey struct{}

// With returns a context whose lines in the log carry these attributes too, after those that ctx has. It is for what names a
// request, such as its id: nothing secret, and nothing that a client can choose.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	return context.WithValue(ctx, attrsKey{}, slices.Concat(Attrs(ctx), attrs))
}

// Attrs are the attributes that With gave the context; do not change them.
func Attrs(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return attrs
}

// Handler adds what the context knows to each record. From slog.LevelInfo up it passes on 10 records of a message at once and then one a second,
// with the number of those left out as notLoggedBefore. It is by level and message, so a message must be a constant. It is safe for concurrent use.
type Handler struct {
	slog.Handler // that follows
	limit        *limiter
}

// NewHandler returns a Handler in front of next. now is the clock.
func NewHandler(next slog.Handler, now func() time.Time) *Handler {
	return &Handler{next, &limiter{now: now, lines: map[line]*bucket{}}}
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	added := Attrs(ctx)
	if r.Level >= slog.LevelInfo {
		passes, dropped := h.limit.pass(line{r.Level, r.Message})
		if !passes {
			return nil
		}
		if dropped > 0 {
			added = slices.Concat(added, []slog.Attr{slog.Int("notLoggedBefore", dropped)})
		}
	}
	r = r.Clone()
	r.AddAttrs(added...)
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &Handler{h.Handler.WithAttrs(attrs), h.limit}
}

// WithGroup implements slog.Handler. Attributes of the context are in the group too; the service opens none.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.Handler.WithGroup(name), h.limit}
}

const (
	// burst is how many lines with one message are written at once, and refill is after how long there may be one more.
	// While a store is away every request fails for the same reason, and the log must not be what fills the disk.
	burst  = 10
	refill = time.Second
	// linesKept bounds for how many messages that is counted. Messages are constants, so there are far fewer.
	linesKept = 1000
)

// line is what two lines of the log have in common when one repeats the other.
type line struct {
	level   slog.Level
	message string
}

type bucket struct {
	left    int
	since   time.Time // up to when left was filled up
	dropped int
}

// limiter counts lines.
type limiter struct {
	now func() time.Time

	mu    sync.Mutex
	lines map[line]*bucket
}

// pass reports whether the line may be written, and how many like it were not since the last one that was.
func (l *limiter) pass(what line) (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.lines[what]
	if b == nil {
		if len(l.lines) == linesKept {
			clear(l.lines)
		}
		b = &bucket{left: burst, since: now}
		l.lines[what] = b
	}
	if more := int(now.Sub(b.since) / refill); more > 0 {
		b.left, b.since = min(b.left+more, burst), b.since.Add(time.Duration(more)*refill)
	}
	if b.left == 0 {
		b.dropped++
		return false, 0
	}
	b.left--
	dropped, b.dropped = b.dropped, 0
	return true, dropped
}
