package stores

import (
	"context"
	"errors"
	"sync"

	"levelboard/internal/domain/id"
)

// ErrBroken is the error of At.
var ErrBroken = errors.New("broken on demand")

// Call is one call of a store: the n-th of its method, from 1, on a guild where it is about one.
type Call struct {
	Method string
	N      int
	Guild  id.Guild
	Guilds []id.Guild // of a method that is about many
	Rows   int        // of WriteBatch, WriteBatches, Salvage, LoadChunk and NoteUnsaved
}

// Faults stands around the calls of both stores. What a hook returns is what the caller gets: an error of Before keeps the
// work from being done, one of After comes though it was done. Set the hooks before the stores are used.
type Faults struct {
	Before func(ctx context.Context, c Call) error
	After  func(ctx context.Context, c Call) error
	// Torn breaks a call of the live store about many guilds in its middle: two thirds of them are served, and the answers of
	// one third arrive.
	Torn func(ctx context.Context, c Call) error
	// Lost says of a WriteBatch or WriteBatches that the archive says it has committed it, and loses it; and of a States that nothing of
	// that is to be seen yet.
	Lost func(c Call) bool

	mu    sync.Mutex
	calls map[string]int
}

// At returns a hook that fails the n-th call of a method.
func At(method string, n int) func(context.Context, Call) error {
	return func(_ context.Context, c Call) error {
		if c.Method == method && c.N == n {
			return ErrBroken
		}
		return nil
	}
}

// Until waits until the channel is closed.
func Until(ctx context.Context, closed <-chan struct{}) error {
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Count is how often a method was called.
func (f *Faults) Count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *Faults) around(ctx context.Context, c Call, work func() error) error {
	f.mu.Lock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[c.Method]++
	c.N = f.calls[c.Method]
	f.mu.Unlock()
	if f.Before != nil {
		if err := f.Before(ctx, c); err != nil {
			return err
		}
	}
	if f.Lost != nil && (c.Method == "WriteBatches" || c.Method == "States") && f.Lost(c) {
		work = func() error { return nil }
	}
	if err := work(); err != nil {
		return err
	}
	if f.After != nil {
		return f.After(ctx, c)
	}
	return nil
}

// aroundMany is around a call about many guilds; work does it for the first of them.
func (f *Faults) aroundMany(ctx context.Context, c Call, work func(first int)) (answered int, err error) {
	all := len(c.Guilds)
	torn := false
	err = f.around(ctx, c, func() (err error) {
		served := all
		if f.Torn != nil {
			c.N = f.Count(c.Method)
			if err = f.Torn(ctx, c); err != nil {
				served, answered, torn = all*2/3, all/3, true
			}
		}
		work(served)
		return err
	})
	if err == nil {
		return all, nil
	}
	if !torn {
		answered = 0
	}
	return answered, err
}

// Held returns a hook that holds the n-th call of a method up until release is closed or the call's context ends, and
// says so by closing reached.
func Held(method string, n int) (hook func(context.Context, Call) error, reached, release chan struct{}) {
	reached, release = make(chan struct{}), make(chan struct{})
	return func(ctx context.Context, c Call) error {
		if c.Method != method || c.N != n {
			return nil
		}
		close(reached)
		return Until(ctx, release)
	}, reached, release
}
