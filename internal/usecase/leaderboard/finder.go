package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

const (
	// MaxFound is how many members one search finds at most.
	MaxFound = 20
	// namesTime bounds what a search waits for the archive, its turn included.
	namesTime = 2 * time.Second
	// searchesAtOnce is how many searches use the archive's few connections; searchesWaiting is how many more wait.
	searchesAtOnce  = 2
	searchesWaiting = 128
)

var errSearchesFull = errors.New("too many searches wait for the archive")

// Names is where members are found by their names: the archive, for the live store has no room for an index.
type Names interface {
	// FindNames finds archived members whose username or global name is in one of the spans: at most limit, each once, ordered by the first of
	// their names, folded, and then by id. It finds no deleted members and no empty names.
	FindNames(ctx context.Context, g GuildRef, spans []NameSpan, limit int) ([]id.User, error)
}

// Finder finds members by the beginning of a name, or by their id. It is safe for concurrent use. Names are looked up in the archive, so a
// new name is found a snapshot interval later; what is found is as the live store has it.
type Finder struct {
	board *Leaderboard
	names Names
	turns *semaphore.Weighted // held by each search that uses the archive
	queue *semaphore.Weighted // held by each of those, and by each that waits
}

// NewFinder returns a Finder.
func NewFinder(board *Leaderboard, names Names) *Finder {
	return &Finder{
		board: board, names: names,
		turns: semaphore.NewWeighted(searchesAtOnce), queue: semaphore.NewWeighted(searchesAtOnce + searchesWaiting),
	}
}

// Found is the result of a search.
type Found struct {
	Members []Ranked // in the order of the names that were looked for
	More    bool     // there are others, whom a longer text would find
}

// Find finds at most MaxFound members whose username or global name begins with the text in any case (spansOf), or the one with that id.
// An Invalid fault for a text without a character or above 64; an Unavailable one for a name when the archive is away.
func (f *Finder) Find(ctx context.Context, g *guild.Guild, text string) (Found, error) {
	text, err := searchText(text)
	if err != nil {
		return Found{}, err
	}
	if user, err := id.Parse[id.User](text); err == nil {
		v, err := f.board.View(ctx, g, Look{Users: []id.User{user}})
		return Found{Members: v.Members}, err
	}
	users, err := f.named(ctx, Ref(g), spansOf(text))
	if err != nil {
		return Found{}, &fault.Error{
			Code:       fault.Unavailable,
			Message:    "Members cannot be found by name at the moment. Search for a user id, or try again in a few seconds.",
			Cause:      fmt.Errorf("find members by name: %w", err),
			RetryAfter: 2 * time.Second,
		}
	}
	if len(users) == 0 {
		return Found{}, nil
	}
	v, err := f.board.View(ctx, g, Look{Users: users[:min(len(users), MaxFound)]})
	return Found{Members: v.Members, More: len(users) > MaxFound}, err
}

// named returns one more than MaxFound, if there are that many.
func (f *Finder) named(ctx context.Context, g GuildRef, spans []NameSpan) ([]id.User, error) {
	if !f.queue.TryAcquire(1) {
		return nil, errSearchesFull
	}
	defer f.queue.Release(1)
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	if err := f.turns.Acquire(ctx, 1); err != nil {
		return nil, fmt.Errorf("wait for a turn: %w", err)
	}
	defer f.turns.Release(1)
	return f.names.FindNames(ctx, g, spans, MaxFound+1)
}
