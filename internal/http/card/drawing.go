package card

import (
	"context"
	"runtime"

	lru "github.com/hashicorp/golang-lru/v2"

	"levelboard/internal/platform/cached"
	"levelboard/internal/platform/shares"
)

const (
	// cardsKept is how many PNGs stay in memory; each is about 60 KB, and 100 KB at most.
	cardsKept = 128
	// cardsWaiting is how many requests wait for a PNG to be drawn. Each holds a place among those in flight, and this is
	// how many of those cards can take.
	cardsWaiting = 64
	// cardsOfOne is how many of them may be of one identity, or of one address without a key.
	cardsOfOne = cardsWaiting / 4
)

// Drawing draws few PNGs at a time, and keeps those that were asked for last. A PNG takes tens of milliseconds of a core, a thousand
// times what other requests take, so without this a page full of cards would hold up everybody.
type Drawing struct {
	kept    *lru.Cache[string, []byte]
	waiting *shares.Pool  // the requests that wait or draw
	places  chan struct{} // holds one for each that draws
}

// NewDrawing returns a Drawing that keeps nothing yet.
func NewDrawing() *Drawing {
	return &Drawing{
		kept: cached.NewLRU[string, []byte](cardsKept), waiting: shares.New(cardsWaiting, cardsOfOne),
		// At least half of the cores are left to others.
		places: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}
}

// Draw returns the picture of this ETag, from memory or drawn now. shares.ErrFull when too many are waiting, or when ctx ends before it is
// this picture's turn; shares.ErrShare when too many of this caller are waiting.
func (d *Drawing) Draw(ctx context.Context, caller, etag string, drawn func() ([]byte, error)) ([]byte, error) {
	if kept, ok := d.kept.Get(etag); ok {
		return kept, nil
	}
	place, err := d.waiting.Take(caller)
	if err != nil {
		return nil, err
	}
	defer place.Release()
	select {
	case d.places <- struct{}{}:
		defer func() { <-d.places }()
	case <-ctx.Done():
		return nil, shares.ErrFull
	}
	// Those who asked for the same card meanwhile find it here.
	if kept, ok := d.kept.Get(etag); ok {
		return kept, nil
	}
	card, err := drawn()
	if err != nil {
		return nil, err
	}
	d.kept.Add(etag, card)
	return card, nil
}
