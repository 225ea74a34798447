package redisstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"levelboard/internal/usecase/leaderboard"
)

const (
	// batchCalls is how many calls are sent together at most: as many as take Redis well below a millisecond.
	batchCalls = 64
	// batchesAtOnce is how many batches are under way at the same time: Redis works on one while the replies of the other are
	// given to their callers. Else each of the two sides has nothing to do while the other works.
	batchesAtOnce = 2
	// callsBeside is how many calls must wait for a batch to be sent beside another. With fewer the batches would get small, and a
	// round trip of its own costs a call more than waiting for the next does.
	callsBeside = 16
	// lookEvery is how often all calls that wait, and not only those whose turn it is, are asked whether their requests went away.
	lookEvery = 100 * time.Millisecond
	// maxCalls bounds the calls that wait to be sent; it is more than the requests that are worked on at the same time.
	maxCalls = 8192
)

var errCallsFull = errors.New("too many calls wait for Redis")

// coalescer sends the small calls of concurrent requests together: one round trip for up to batchCalls of them, and in it one
// run of a script for up to guildsAtOnce guilds, with all calls that are about each. Nothing is waited for: a call that finds
// no batch under way is sent at once, and what comes meanwhile goes with the next, which is sent when the one before is back, or
// beside it once enough wait. A round trip of its own costs a call more than everything that Redis does for it (docs/benchmarks.md).
//
// Each call is one step in Redis, whatever it is sent with, and none is sent again, except after NOSCRIPT, which says that
// nothing has run; what else a cluster says so with (directionOf) is for the caller.
type coalescer struct {
	node      *node
	clustered bool
	wait      *waiter // nil: its calls wait for no replicas
	atOnce    int     // how many batches are under way at most
	beside    int     // how many calls must wait for another batch beside one that is under way
	// index puts guilds into the index of those with changes that wait for a snapshot, when that was not done in the round trip
	// of the changes: on a cluster the index is on any node.
	index   func(ctx context.Context, guilds []any)
	observe func(script string, d time.Duration, err error)
	sent    prometheus.Observer // calls of each batch

	mu      sync.Mutex
	senders int
	waiting []*call
	looked  time.Time // see lookEvery
}

// call is one call of one request.
type call struct {
	kind   *kind
	g      leaderboard.GuildRef
	sieve  string // of a change; calls with different ones are not for the same run
	member string // of a change or a read of a member
	change string // of a change
	asking bool   // the node must be told that it is asked (processAsking)

	ctx      context.Context
	arrived  time.Time
	patience time.Duration
	done     chan struct{} // has room for one: sent to once the reply and the error are there

	reply reply // of the run that this call was in
	at, n int   // its place among the calls of that run, and how many they are
	err   error
}

var unusedCalls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

// newCall returns a call, which nobody keeps after do: then it is for another request, by reuse.
func newCall(k *kind, g leaderboard.GuildRef) *call {
	l := unusedCalls.Get().(*call)
	l.kind, l.g = k, g
	return l
}

func (l *call) reuse() {
	*l = call{done: l.done}
	unusedCalls.Put(l)
}

// kind is a kind of calls that one run of a script can make for several.
type kind struct {
	script *script
	keys   func(g leaderboard.GuildRef) []string
	// args appends what the script takes after the incarnation; nil when it takes nothing, and all get the same reply.
	args func(args []any, calls []*call) []any
	// first, when set, reads whether the reply is of the first change that waits for a snapshot of the guild.
	first func(r reply) bool
}

// do makes the call and returns once it was answered, or has found Redis silent for longer than the patience of ctx. When ctx ends
// before it was sent, it never is; that is seen when the batch before it is back, at most one patience later. Unless the error
// says that nothing ran (a refusal, or that the call was not sent), it may have run and may not.
//
// There is one thing to wait for, and it is not the end of ctx: a request whose context nobody waits for needs no timer.
func (c *coalescer) do(ctx context.Context, l *call) error {
	l.ctx, l.arrived, l.patience = ctx, time.Now(), c.node.gate.patience(ctx)
	c.mu.Lock()
	if len(c.waiting) >= maxCalls {
		c.mu.Unlock()
		return l.notSent(errCallsFull)
	}
	c.waiting = append(c.waiting, l)
	start := c.senders == 0 || c.senders < c.atOnce && len(c.waiting) >= c.beside
	if start {
		c.senders++
	}
	c.mu.Unlock()
	if start {
		go c.send()
	}
	<-l.done
	return l.err
}

func (l *call) notSent(err error) error {
	return fmt.Errorf("redis: %s: not sent: %w", l.kind.script.name, err)
}

// send sends batches until nobody waits. It ends by itself: nobody waits for longer than the patience, and no batch takes
// longer either.
func (c *coalescer) send() {
	batch := make([]*call, 0, batchCalls)
	for {
		batch = c.take(batch[:0])
		if len(batch) == 0 {
			return
		}
		c.run(batch)
		for i, l := range batch {
			batch[i] = nil
			l.done <- struct{}{}
		}
	}
}

// take takes the calls that have waited for longest and whose requests still want them. When it returns none, this sender has
// ended: nobody waits, or so few that they are for another one.
func (c *coalescer) take(batch []*call) []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.looked) >= lookEvery {
		c.looked = now
		c.waiting = slices.DeleteFunc(c.waiting, (*call).left)
	}
	if c.senders > 1 && len(c.waiting) < c.beside {
		c.senders--
		return batch
	}
	taken := 0
	for taken < len(c.waiting) && len(batch) < batchCalls {
		l := c.waiting[taken]
		taken++
		if !l.left() {
			batch = append(batch, l)
		}
	}
	left := copy(c.waiting, c.waiting[taken:])
	clear(c.waiting[left:])
	c.waiting = c.waiting[:left]
	if len(batch) == 0 {
		c.senders--
	}
	return batch
}

// left reports whether the call's request has gone away before it was sent, and answers it if so.
func (l *call) left() bool {
	err := l.ctx.Err()
	if err != nil {
		l.err = l.notSent(err)
		l.done <- struct{}{}
	}
	return err != nil
}

// run makes the calls and gives each its reply or its error.
func (c *coalescer) run(batch []*call) {
	now, heard := time.Now(), c.node.gate.lastHeard()
	live := batch[:0:0]
	var last *call // whose patience ends last: the batch has as much, or one with little left would cut the others off
	var end time.Time
	for _, l := range batch {
		since := l.arrived
		if heard.After(since) {
			since = heard
		}
		ends := since.Add(l.patience)
		if !ends.After(now) {
			l.err = l.notSent(errSilent)
			continue
		}
		live = append(live, l)
		if ends.After(end) {
			last, end = l, ends
		}
	}
	if len(live) == 0 {
		return
	}
	c.sent.Observe(float64(len(live)))
	packs := c.packsOf(live)
	err := c.node.gate.passSince(context.Background(), last.arrived, last.patience, func(ctx context.Context) error {
		return c.exchange(ctx, packs)
	})
	took := time.Since(now)
	for _, p := range packs {
		var failed error
		for _, r := range p.runs {
			if r.reply == nil && r.err == nil {
				r.err = fmt.Errorf("redis: %s: %w", p.script.name, err)
			}
			if failed == nil {
				failed = r.err
			}
			for at, l := range r.calls {
				l.reply, l.at, l.n, l.err = r.reply, at, len(r.calls), r.err
			}
		}
		// That a cluster sent it elsewhere is no run of the script.
		if c.observe != nil && !(c.clustered && nothingRan(failed)) {
			c.observe(p.script.name, took, failed)
		}
	}
}

// pack is one run of a script, for several guilds.
type pack struct {
	*kind
	runs []*scriptRun
}

// packsOf puts the calls of a guild together, and the guilds that one run of a script can be for: with a cluster, one.
func (c *coalescer) packsOf(batch []*call) (packs []*pack) {
	most := guildsOfRun(c.clustered)
	for _, r := range runsOf(batch) {
		i := slices.IndexFunc(packs, func(p *pack) bool { return p.kind == r.kind && len(p.runs) < most })
		if i < 0 {
			i, packs = len(packs), append(packs, &pack{kind: r.kind})
		}
		packs[i].runs = append(packs[i].runs, r)
	}
	return packs
}

// scriptRun is one guild's part in a run of a script, for calls that are about that guild.
type scriptRun struct {
	*kind
	g      leaderboard.GuildRef
	sieve  string
	asking bool
	calls  []*call

	reply reply
	err   error // without a reply
}

func runsOf(batch []*call) []*scriptRun {
	var runs []*scriptRun
	for _, l := range batch {
		r := findRun(runs, l)
		if r == nil {
			r = &scriptRun{kind: l.kind, g: l.g, sieve: l.sieve, asking: l.asking}
			runs = append(runs, r)
		}
		r.calls = append(r.calls, l)
	}
	return runs
}

func findRun(runs []*scriptRun, l *call) *scriptRun {
	for _, r := range runs {
		if r.kind == l.kind && r.g == l.g && r.sieve == l.sieve && r.asking == l.asking {
			return r
		}
	}
	return nil
}

// exchange sends the packs in one pipeline, again those that the server did not know the script of, and puts the guilds whose
// first change this was into the index. What a run has no reply for when an error is returned may have run and may not.
func (c *coalescer) exchange(ctx context.Context, packs []*pack) (err error) {
	var on *server
	for range serverAttempts {
		if on, err = c.node.server(ctx, on); err != nil {
			return err
		}
		var unknown []*pack
		if unknown, err = c.pipe(ctx, on, packs); err != nil || len(unknown) == 0 {
			break
		}
		packs = unknown
		err = errNoScript
	}
	return err
}

var errNoScript = errors.New("NOSCRIPT: the server forgets the scripts as they are loaded")

// pipe returns the packs whose script the server did not know.
func (c *coalescer) pipe(ctx context.Context, on *server, packs []*pack) (unknown []*pack, err error) {
	commands := make([]once, len(packs))
	pipeline := c.node.Pipeline()
	for i, p := range packs {
		commands[i] = p.command(ctx, on)
		if p.runs[0].asking {
			_ = pipeline.Process(ctx, askingCommand(ctx))
		}
		_ = pipeline.Process(ctx, commands[i])
	}
	if guilds := changing(packs); len(guilds) > 0 && !c.clustered {
		// With what they wait for. A guild of which nothing changes is looked at by the writer once, in vain.
		_ = pipeline.Process(ctx, redis.NewIntCmd(ctx, append([]any{"sadd", dirtyGuildsKey}, guilds...)...))
	}
	var wait *redis.IntCmd
	if c.wait != nil {
		wait = c.wait.command(ctx)
		_ = pipeline.Process(ctx, wait)
	}
	_, err = pipeline.Exec(ctx)
	broken := !answered(err)
	if !broken {
		err = nil
	}
	var first []any
	for i, p := range packs {
		v, failed := commands[i].Val(), commands[i].Err()
		switch {
		case broken && whole(v):
			failed = nil // it was answered before the connection broke; go-redis gives the error to all commands
		case broken:
			continue
		case redis.HasErrorPrefix(failed, "NOSCRIPT"):
			unknown = append(unknown, p)
			continue
		}
		var short error
		if wait != nil {
			short = c.wait.enough(wait)
		}
		for at, r := range p.runs {
			r.reply, r.err = p.script.result(eachValue(v, failed, at, len(p.runs)))
			if (c.clustered || broken) && r.err == nil && p.first != nil && p.first(r.reply) {
				first = append(first, string(r.g.ID))
			}
			if r.err == nil && short != nil {
				r.err = fmt.Errorf("redis: %s: %w", p.script.name, short)
			}
		}
	}
	if len(first) > 0 {
		// The changes are made: that their guilds are not in the index is no failure of theirs, and the writer's sweep finds them.
		c.index(ctx, first)
	}
	return unknown, err
}

// changing are the guilds that the packs may change.
func changing(packs []*pack) (guilds []any) {
	for _, p := range packs {
		if p.first == nil {
			continue
		}
		for _, r := range p.runs {
			guilds = append(guilds, string(r.g.ID))
		}
	}
	return guilds
}

// whole reports whether a value was read to its end: of an array that was not, go-redis leaves one that is nil.
func whole(v any) bool {
	list, isList := v.([]any)
	return v != nil && (!isList || list != nil)
}

// command runs the script for the guilds of the pack. Texts and incarnations are in it as pointers: a value would be
// copied into memory of its own.
func (p *pack) command(ctx context.Context, on *server) once {
	calls := 0
	for _, r := range p.runs {
		calls += len(r.calls)
	}
	words := make([]any, 0, 4+wordsOfRun*len(p.runs)+wordsOfCall*calls)
	words = append(words, "evalsha", on.digests[p.script], nil)
	keys := len(words)
	for _, r := range p.runs {
		names := p.keys(r.g)
		for i := range names {
			words = append(words, &names[i])
		}
	}
	words[keys-1] = len(words) - keys
	return scriptCommand(ctx, appendEach(words, len(p.runs), func(words []any, i int) []any {
		r := p.runs[i]
		words = append(words, (*int64)(&r.g.Incarnation))
		if p.args != nil {
			words = p.args(words, r.calls)
		}
		return words
	}))
}

// wordsOfRun and wordsOfCall are how many words of a command a guild and a call of a change take: five keys, how many arguments follow, the
// incarnation, how many changes there are, and the sieve; the member and the change. Others take fewer.
const wordsOfRun, wordsOfCall = 9, 2
