// Package logs prepares every line of the service's log: it adds the attributes of the line's
// context, such as the request's id, and limits repeated lines.
package logs

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"
)

type attrsKey struct{}

// With returns a context that adds these attributes to its log lines, after those that ctx has.
// They name a request, for example by its id. They must not be secret, nor chosen by a client.
func With(ctx context.Context, attrs ...slog.Attr) context.Context {
	return context.WithValue(ctx, attrsKey{}, slices.Concat(Attrs(ctx), attrs))
}

// Attrs returns the attributes that With gave to the context; do not change them.
func Attrs(ctx context.Context) []slog.Attr {
	attrs, _ := ctx.Value(attrsKey{}).([]slog.Attr)
	return attrs
}

// New returns a logger that writes lines of text or of JSON.
func New(w io.Writer, level slog.Level, asJSON bool) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if asJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// Handler adds the context's attributes to each record, and drops repeats from slog.LevelInfo up: 10 records with the same level and message pass
// at once, then one a second, with the number of dropped ones as notLoggedBefore. So messages must be constants. It is safe for concurrent use.
type Handler struct {
	slog.Handler // the next one
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

// WithGroup implements slog.Handler. The context's attributes are put into the group too; the service opens none.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.Handler.WithGroup(name), h.limit}
}

const (
	// burst is how many lines with one message may be written at once. After each refill one more may be written.
	// While a store is down every request fails for the same reason, and the log must not fill the disk.
	burst  = 10
	refill = time.Second
	// linesKept bounds the messages whose lines are counted. Messages are constants, so there are far fewer.
	linesKept = 1000
)

// line is what a log line and its repeats have in common.
type line struct {
	level   slog.Level
	message string
}

type bucket struct {
	left    int
	since   time.Time // the time up to which left was refilled
	dropped int
}

// limiter counts lines.
type limiter struct {
	now func() time.Time

	mu    sync.Mutex
	lines map[line]*bucket
}

// pass reports whether the line may be written, and how many equal lines were dropped since the last one that was written.
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
