package stores

import (
	"context"
	"errors"
	"sync"

	"levelboard/internal/domain/id"
)

// ErrBroken is the error of At.
var ErrBroken = errors.New("broken on demand")

// Call is a call of a store, the nth of its method from 1 on. Guild is set if it is about one guild.
type Call struct {
	Method string
	N      int
	Guild  id.Guild
	Guilds []id.Guild // if it is about many guilds
	Rows   int        // in WriteBatch, WriteBatches, Salvage, LoadChunk and NoteUnsaved
}

// Faults has hooks around the calls of both stores. A hook's error goes to the caller: from Before without the work being done, from After
// after it. Set the hooks before the stores are used.
type Faults struct {
	Before func(ctx context.Context, c Call) error
	After  func(ctx context.Context, c Call) error
	// Torn breaks a call of the live store about many guilds in the middle: two thirds of them are served, and the answers of one third
	// arrive.
	Torn func(ctx context.Context, c Call) error
	// Lost makes the archive acknowledge a WriteBatch or WriteBatches and lose it. For States it says whether the loss is not visible
	// yet.
	Lost func(c Call) bool

	mu    sync.Mutex
	calls map[string]int
}

// At returns a hook that fails the nth call of a method.
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

// Count returns how often a method was called.
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

// aroundMany wraps a call about many guilds. work serves the first of them.
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

// Held returns a hook that blocks the nth call of a method until release is closed or the call's context ends. It closes reached when it
// blocks.
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
