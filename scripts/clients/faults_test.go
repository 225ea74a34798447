package clients

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// faults is the proxy between the bot and the service.
type faults struct {
	service http.Handler

	mu                                  sync.Mutex
	losesAnswer, cuts, rejects, streams bool                 // the faults of the next call of messages, or the next stream
	open                                []context.CancelFunc // of open streams
}

// loseAnswer drops the next answer to messages. They count, but the bot does not know.
func (f *faults) loseAnswer() { f.set(func() { f.losesAnswer = true }) }

// cutAnswer cuts the next answer to messages after its first bytes.
func (f *faults) cutAnswer() { f.set(func() { f.cuts = true }) }

// reject rejects the next call of messages with 429.
func (f *faults) reject() { f.set(func() { f.rejects = true }) }

// rejected returns "yes" once a call was rejected.
func (f *faults) rejected() (come string) {
	f.set(func() {
		if !f.rejects {
			come = "yes"
		}
	})
	return come
}

// cutStreams cuts all streams, and rejects the next one.
func (f *faults) cutStreams() {
	f.set(func() {
		f.streams = true
		for _, cut := range f.open {
			cut()
		}
		f.open = nil
	})
}

func (f *faults) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// take reports whether a fault is due, and clears it.
func (f *faults) take(fault *bool) (due bool) {
	f.set(func() { due, *fault = *fault, false })
	return due
}

func (f *faults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	messages, stream := strings.HasSuffix(r.URL.Path, "/messages"), strings.HasSuffix(r.URL.Path, "/events")
	switch {
	case messages && f.take(&f.losesAnswer):
		f.service.ServeHTTP(httptest.NewRecorder(), r)
		unavailable(w, http.StatusServiceUnavailable)
	case messages && f.take(&f.cuts):
		whole := httptest.NewRecorder()
		f.service.ServeHTTP(whole, r)
		maps.Copy(w.Header(), whole.Header())
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes()[:1])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case messages && f.take(&f.rejects):
		unavailable(w, http.StatusTooManyRequests)
	case stream && f.take(&f.streams):
		unavailable(w, http.StatusServiceUnavailable)
	case stream:
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		f.set(func() { f.open = append(f.open, cancel) })
		f.service.ServeHTTP(w, r.WithContext(ctx))
	default:
		f.service.ServeHTTP(w, r)
	}
}

func unavailable(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"message":"a fault of the check"}`))
}
