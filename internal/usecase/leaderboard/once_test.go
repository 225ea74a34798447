package leaderboard

import (
	"context"
	"errors"
	"testing"

	"levelboard/internal/domain/guild"
)

// pastLoader counts the archive's answers.
type pastLoader struct {
	Loader
	asked int
}

func (l *pastLoader) Past(context.Context, GuildRef, Digest) (*Past, error) {
	l.asked++
	return &Past{}, nil
}

// The guild is loaded again while the archive answers, so the answer is stale. The change asks again instead of failing.
func TestTheArchiveIsAskedOnceForEachEpoch(t *testing.T) {
	for name, test := range map[string]struct {
		epochs []int64 // the epochs at which steps ask the archive
		asked  int
		err    error
	}{
		"loaded again twice": {epochs: []int64{4, 5, 6}, asked: 3},
		"the same epoch":     {epochs: []int64{4, 4}, asked: 1, err: ErrAskArchive},
	} {
		t.Run(name, func(t *testing.T) {
			loader, once, steps := &pastLoader{}, Once{Key: Digest{1}}, 0
			l := New(nil, loader, nil, Options{})
			got, err := made(t.Context(), l, &guild.Guild{}, "test", &once, func() (string, error) {
				if steps == len(test.epochs) {
					return "made", nil
				}
				steps++
				return "", AskArchive{Epoch: test.epochs[steps-1]}
			})
			if !errors.Is(err, test.err) || (err == nil) != (got == "made") || loader.asked != test.asked {
				t.Errorf("the change gave %q (%v) after %d questions to the archive, want %v after %d", got, err, loader.asked, test.err, test.asked)
			}
		})
	}
}
