package watch

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/usecase/leaderboard"
)

// Watcher is one who watches a page. Next is for one goroutine.
type Watcher struct {
	feed   *Feed
	guild  leaderboard.GuildRef
	target target
	page   *page
	seen   int // page.changes of what Next returned last

	gone   chan struct{} // closed by the feed
	reason error         // once gone
}

// Next waits until the page differs from what it returned last, and returns the newest; a slow watcher misses what was in between. It fails
// when ctx ends, after which it can be called again, when the guild is deleted, when the period ends, and when the feed is closed.
func (v *Watcher) Next(ctx context.Context) (State, error) {
	for {
		v.feed.mu.Lock()
		newest, changes, changed := v.page.newest, v.page.changes, v.page.changed
		v.feed.mu.Unlock()
		select {
		case <-v.gone:
			return State{}, v.reason
		default:
		}
		if changes != v.seen {
			v.seen = changes
			return newest, nil
		}
		select {
		case <-changed:
		case <-v.gone:
		case <-ctx.Done():
			return State{}, ctx.Err()
		}
	}
}

// Gone is closed when the feed has ended the watcher.
func (v *Watcher) Gone() <-chan struct{} { return v.gone }

// Leave ends the watching. It may be called more than once.
func (v *Watcher) Leave() {
	v.feed.mu.Lock()
	defer v.feed.mu.Unlock()
	v.feed.drop(v, context.Canceled)
}

// State is a page as it was at a moment. Rows are shared by all who watch; nobody may change them.
type State struct {
	Version leaderboard.Version
	Total   int64 // members on the board
	Gained  int64 // by all of them, in the period
	Number  int64 // of the page
	Rows    []leaderboard.Standing
}

// look reads the pages of a guild that are watched, if the guild has changed. A look that failed is made up for by the next.
func (f *Feed) look(ctx context.Context, ref leaderboard.GuildRef) {
	f.mu.Lock()
	of := f.guilds[ref]
	if of == nil {
		f.mu.Unlock()
		return
	}
	// A period that has ended has no running board to read.
	of.end(f, errEnded, func(at target) bool { return at.period.ID != "" && !f.o.Now().Before(at.ends(of.guild)) })
	g, known := of.guild, of.version
	var numbers []int64
	var periods []target
	for at := range of.pages {
		if at.period.ID == "" {
			numbers = append(numbers, at.number)
		} else {
			periods = append(periods, at)
		}
	}
	slices.Sort(numbers)
	f.mu.Unlock()

	lookCtx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	g = f.current(lookCtx, of, g)
	var first *leaderboard.Version
	for i := 0; i == 0 || i < len(numbers); i += leaderboard.MaxViewPages {
		part := numbers[i:min(i+leaderboard.MaxViewPages, len(numbers))]
		v, err := f.board.View(lookCtx, g, leaderboard.Look{Pages: part, Unless: known})
		f.mu.Lock()
		f.took(ctx, of, err)
		if err != nil || v.Unchanged {
			f.mu.Unlock()
			return
		}
		if first == nil {
			// Of the pages that are read after these, some may be newer: then the next look finds another version.
			first = &v.Version
			of.version = first
		}
		for i, number := range part {
			if p := of.pages[target{number: number}]; p != nil {
				p.show(allTime(v, v.Pages[i]))
			}
		}
		f.mu.Unlock()
	}
	for _, at := range periods {
		state, err := f.standings(lookCtx, g, at)
		f.mu.Lock()
		if f.took(ctx, of, err); err == nil {
			if p := of.pages[at]; p != nil {
				p.show(state)
			}
		}
		f.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range of.pages {
		if p.changes == 0 { // it was added meanwhile
			of.version = nil
		}
	}
}

// current is a watched guild as it is now. A look that knows of newer flags of hidden users copies them, if whoever set them could not.
func (f *Feed) current(ctx context.Context, of *watched, g *guild.Guild) *guild.Guild {
	if f.o.Guild == nil {
		return g
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime/4) // an archive that is silent leaves time to look
	defer cancel()
	now, err := f.o.Guild(ctx, g.ID)
	if err != nil || now.Incarnation != g.Incarnation {
		return g // the look itself finds out what is wrong
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	of.guild = now
	return now
}

// ends is when the period of the page ends, by the guild's zone.
func (t target) ends(g *guild.Guild) time.Time {
	_, ends := t.period.Bounds(g.Calendar().Zone)
	return ends
}

func allTime(v leaderboard.View, page leaderboard.NumberedPage) State {
	return State{Version: v.Version, Total: v.Total, Number: page.Number, Rows: page.Standings()}
}

// standings reads a page of a running period.
func (f *Feed) standings(ctx context.Context, g *guild.Guild, at target) (State, error) {
	found, number, err := leaderboard.PeriodPage(ctx, f.board, g, at.period, at.number)
	return State{Version: found.Version, Total: found.Members, Gained: found.Gained, Number: number, Rows: found.Rows}, err
}

// took notes how a look went, in the context of Run. f.mu is held.
func (f *Feed) took(ctx context.Context, of *watched, err error) {
	switch {
	case err == nil:
		f.failing = false
	case errors.Is(err, leaderboard.ErrGuildMoved):
		of.end(f, errMoved, func(target) bool { return true })
	default:
		of.version = nil // of several parts, some were not read
		if !f.failing && ctx.Err() == nil {
			f.o.Log.Warn("watched pages cannot be read; they continue when the stores respond again", "error", err)
			f.failing = true
		}
	}
}

// show makes s the newest state. A change of the guild that does not show on the page wakes nobody.
func (p *page) show(s State) {
	same := p.changes > 0 && s.Total == p.newest.Total && s.Gained == p.newest.Gained && s.Number == p.newest.Number && reflect.DeepEqual(s.Rows, p.newest.Rows)
	p.newest = s
	if same {
		return
	}
	p.changes++
	close(p.changed)
	p.changed = make(chan struct{})
}
