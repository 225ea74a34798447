package leaderboard

import (
	"context"
	"errors"
)

// maxQueue is how many requests wait for guilds to be loaded at the same time: half of those that are worked on at all, so
// that the guilds that are loaded are served while a large one is not yet.
const maxQueue = 1024

var errQueueFull = errors.New("too many requests wait for guilds to be loaded")

// queue is a Loader for which at most so many wait; one more is refused at once.
type queue struct {
	Loader
	places chan struct{}
}

func newQueue(l Loader, places int) *queue {
	return &queue{Loader: l, places: make(chan struct{}, places)}
}

// Load implements Loader.
func (q *queue) Load(ctx context.Context, g GuildRef) error {
	select {
	case q.places <- struct{}{}:
		defer func() { <-q.places }()
		return q.Loader.Load(ctx, g)
	default:
		return errQueueFull
	}
}
