package card

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"levelboard/internal/platform/shares"
)

// heldDrawing draws one card at a time and holds each until the test releases it.
type heldDrawing struct {
	*Drawing
	begun   chan string
	release chan struct{}
	drawn   atomic.Int64
}

func newHeldDrawing() *heldDrawing {
	h := &heldDrawing{Drawing: NewDrawing(), begun: make(chan string, cardsWaiting), release: make(chan struct{})}
	h.places = make(chan struct{}, 1)
	return h
}

func (h *heldDrawing) ask(ctx context.Context, caller, etag string) ([]byte, error) {
	return h.Draw(ctx, caller, etag, func() ([]byte, error) {
		h.drawn.Add(1)
		h.begun <- etag
		<-h.release
		return []byte(etag), nil
	})
}

func TestConcurrentRequestsShareADrawing(t *testing.T) {
	h := newHeldDrawing()
	var asking sync.WaitGroup
	for range cardsOfOne {
		asking.Go(func() {
			if got, err := h.ask(t.Context(), "one", "a"); err != nil || string(got) != "a" {
				t.Errorf("the card is %q (%v), want a", got, err)
			}
		})
	}
	<-h.begun
	close(h.release)
	asking.Wait()
	if n := h.drawn.Load(); n != 1 {
		t.Errorf("the card was drawn %d times, want once", n)
	}
}

func TestDrawingsAreBounded(t *testing.T) {
	h := newHeldDrawing()
	var asking sync.WaitGroup
	for i := range cardsWaiting {
		asking.Go(func() {
			if _, err := h.ask(t.Context(), fmt.Sprint("caller ", i), fmt.Sprint(i)); err != nil {
				t.Errorf("drawing card %d: %v", i, err)
			}
		})
	}
	first := <-h.begun
	for h.waiting.Holders() < cardsWaiting {
		runtime.Gosched() // let the others queue
	}
	if _, err := h.ask(t.Context(), "one more", "one more"); !errors.Is(err, shares.ErrFull) {
		t.Errorf("a card beyond the queue: %v, want shares.ErrFull", err)
	}
	if got, err := h.Draw(t.Context(), "one more", first, nil); err == nil {
		t.Errorf("drawing without waiting returned %q, want an error while no place is free", got)
	}
	if n := len(h.begun); n != 0 {
		t.Errorf("%d more cards are drawn at the same time, want 0", n)
	}
	close(h.release)
	asking.Wait()
	if _, err := h.ask(t.Context(), "one more", "one more"); err != nil {
		t.Errorf("drawing once places are free: %v", err)
	}
}

func TestACallerHasAShareOfTheCards(t *testing.T) {
	h := newHeldDrawing()
	h.places = make(chan struct{}, cardsWaiting)
	var asking sync.WaitGroup
	for i := range cardsOfOne {
		asking.Go(func() {
			if _, err := h.ask(t.Context(), "one", fmt.Sprint(i)); err != nil {
				t.Errorf("drawing card %d: %v", i, err)
			}
		})
		<-h.begun
	}
	if _, err := h.ask(t.Context(), "one", "one more"); !errors.Is(err, shares.ErrShare) {
		t.Errorf("a card beyond the caller's share: %v, want shares.ErrShare", err)
	}
	close(h.release)
	if _, err := h.ask(t.Context(), "another", "one more"); err != nil {
		t.Errorf("drawing for another caller: %v", err)
	}
	asking.Wait()
}

func TestARequestOverItsTimeStopsWaiting(t *testing.T) {
	h := newHeldDrawing()
	var asking sync.WaitGroup
	asking.Go(func() { _, _ = h.ask(t.Context(), "one", "a") })
	<-h.begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.ask(ctx, "one", "b"); !errors.Is(err, shares.ErrFull) {
		t.Errorf("a request over its time: %v, want shares.ErrFull", err)
	}
	close(h.release)
	asking.Wait()
}

func TestAFailedDrawingIsNotKept(t *testing.T) {
	d := NewDrawing()
	broken := errors.New("broken")
	if _, err := d.Draw(t.Context(), "one", "a", func() ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("the failed drawing: %v, want its error", err)
	}
	got, err := d.Draw(t.Context(), "one", "a", func() ([]byte, error) { return []byte("card"), nil })
	if err != nil || string(got) != "card" {
		t.Errorf("the next drawing is %q (%v), want card", got, err)
	}
}
