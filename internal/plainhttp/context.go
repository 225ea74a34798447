package plainhttp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// lookAfter is how long a request has run before anybody is told that its client hung up, and how often the connection is asked.
const lookAfter = 20 * time.Millisecond

// requestContext ends when its request was answered, its client has hung up, or the server was closed. That is found out when somebody
// waits for the end, by a goroutine for as long as the request runs, or asks for it after lookAfter, by a look at the connection. What a
// client that has hung up asked for a moment ago is as well done as not.
type requestContext struct {
	conn  *conn // nil once it was answered: it is for the next request
	began time.Time
	over  atomic.Bool // answered, or hung up

	mu     sync.Mutex
	looked time.Duration          // how long the request had run then
	waited atomic.Pointer[waited] // nil until somebody waits
	watch  *watch
}

type waited struct {
	context.Context
	cancel context.CancelFunc
}

// Deadline implements context.Context.
func (*requestContext) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value implements context.Context. What package context keeps there tells contexts made of this one that they can wait for it without a
// goroutine of their own.
func (x *requestContext) Value(key any) any {
	if w := x.waited.Load(); w != nil {
		return w.Value(key)
	}
	return nil
}

// Err implements context.Context.
func (x *requestContext) Err() error {
	if w := x.waited.Load(); w != nil {
		return w.Err()
	}
	if x.over.Load() {
		return context.Canceled
	}
	if ran := time.Since(x.began); ran >= lookAfter && x.hungUp(ran) {
		return context.Canceled
	}
	return nil
}

func (x *requestContext) hungUp(ran time.Duration) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.conn != nil && ran >= x.looked+lookAfter {
		x.looked = ran
		if hungUp(x.conn.Conn) {
			x.over.Store(true)
			if w := x.waited.Load(); w != nil { // since Err saw that nobody does
				w.cancel()
			}
		}
	}
	return x.over.Load()
}

// Done implements context.Context.
func (x *requestContext) Done() <-chan struct{} {
	if w := x.waited.Load(); w != nil {
		return w.Done()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.waited.Load() == nil {
		ctx, cancel := context.WithCancel(context.Background())
		if x.over.Load() || x.conn == nil {
			cancel()
		} else {
			x.watch = startWatch(x.conn.Conn, cancel)
		}
		x.waited.Store(&waited{ctx, cancel})
	}
	return x.waited.Load().Done()
}

// end says that the request was answered. After it nobody looks at the connection.
func (x *requestContext) end() {
	x.mu.Lock()
	c, watch := x.conn, x.watch
	x.conn = nil
	x.mu.Unlock()
	x.over.Store(true)
	if w := x.waited.Load(); w != nil {
		w.cancel()
	}
	if watch != nil {
		c.readBy.Time = watch.stop()
	}
}
