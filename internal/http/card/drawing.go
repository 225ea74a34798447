package card

import (
	"context"
	"runtime"

	lru "github.com/hashicorp/golang-lru/v2"

	"levelboard/internal/platform/cached"
	"levelboard/internal/platform/shares"
)

const (
	// cardsKept is how many PNGs are cached. Each is about 60 KB, and at most 100 KB.
	cardsKept = 128
	// cardsWaiting is how many requests may draw a PNG or wait for it. Each holds one of
	// the places for running requests, so this bounds how many of them cards can take.
	cardsWaiting = 64
	// cardsOfOne is how many of these may belong to one identity, or to one address without a key.
	cardsOfOne = cardsWaiting / 4
)

// Drawing draws few PNGs at a time, and caches the latest. A PNG takes tens of milliseconds of a core, a thousand
// times what other requests take, so without a bound a page full of cards would delay all other requests.
type Drawing struct {
	kept    *lru.Cache[string, []byte]
	waiting *shares.Pool  // the requests that wait or draw
	places  chan struct{} // holds one for each that is being drawn
}

// NewDrawing returns a Drawing with an empty cache.
func NewDrawing() *Drawing {
	return &Drawing{
		kept: cached.NewLRU[string, []byte](cardsKept), waiting: shares.New(cardsWaiting, cardsOfOne),
		// Leave at least half of the cores to other requests.
		places: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}
}

// Draw returns the picture with this ETag, from memory or drawn now. It returns shares.ErrFull when too many
// requests wait, or when ctx ends before this one's turn, and shares.ErrShare when too many of this caller wait.
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
	// Another request may have drawn the same card during the wait.
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
