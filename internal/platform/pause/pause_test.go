package pause_test

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"levelboard/internal/platform/pause"
)

func TestForEndsWithItsContext(t *testing.T) {
	ended := time.Duration(-1)
	for _, c := range []struct {
		pause, ctx, waited time.Duration
		lasted             bool
	}{
		{time.Second, time.Minute, time.Second, true},
		{time.Minute, time.Second, time.Second, false},
		{0, time.Second, 0, true},
		{-time.Second, time.Second, 0, true},
		{time.Second, ended, 0, false},
		{0, ended, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), c.ctx)
			defer cancel()
			began := time.Now()
			if lasted := pause.For(ctx, c.pause); lasted != c.lasted || time.Since(began) != c.waited {
				t.Errorf("a pause of %v in a context of %v: lasted %v after %v, want %v after %v", c.pause, c.ctx, lasted, time.Since(began), c.lasted, c.waited)
			}
		})
	}
}

func TestAgainReportsTheFirstOfConsecutiveFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		outcomes := []error{io.EOF, io.ErrUnexpectedEOF, nil, io.ErrNoProgress, context.Canceled}
		began, made := time.Now(), 0
		var told []error
		do := func(context.Context) error {
			made++
			if made == len(outcomes) {
				cancel() // an error now comes from the end
			}
			return outcomes[made-1]
		}
		pause.Again(ctx, func() time.Duration { return time.Second }, do, func(err error) { told = append(told, err) })
		if made != len(outcomes) || time.Since(began) != 5*time.Second || !slices.Equal(told, []error{io.EOF, io.ErrNoProgress}) {
			t.Errorf("the call was made %d times in %v and reported %v, want %d times in 5s", made, time.Since(began), told, len(outcomes))
		}
	})
}
