package cli

import (
	"bytes"
	"io"
	"log/slog"
	"sync"

	"levelboard/internal/config"
)

// newLogger returns the logger that the settings ask for.
func newLogger(w io.Writer, cfg config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == config.JSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// heldWriter keeps what is written to it until it is released, so that the first lines of serve, which need the bound
// addresses, come before the log of how they were bound.
type heldWriter struct {
	mu       sync.Mutex
	w        io.Writer
	held     bytes.Buffer
	released bool
}

func (h *heldWriter) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return h.w.Write(b)
	}
	return h.held.Write(b)
}

// release lets through what was held and all that follows; first, if it is not nil, is called before, and may write to the
// writer beneath.
func (h *heldWriter) release(first func(io.Writer)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if first != nil {
		first(h.w)
	}
	h.released = true
	_, _ = h.held.WriteTo(h.w)
}
