package hydrate

import (
	"context"
	"errors"
	"fmt"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/hidden"
	"levelboard/internal/usecase/leaderboard"
)

// CopyHidden brings the flags of hidden users from the archive to a guild that is loaded, after a change of them. What it does not reach, the next
// caller that knows of the change does: a guild with older flags is not loaded for it (leaderboard.GuildRef).
func (h *Hydrator) CopyHidden(ctx context.Context, g leaderboard.GuildRef) error {
	_, err := h.copyHidden(ctx, g)
	return err
}

// copyHidden copies missing flags, part by part. done is false when the guild is no longer loaded.
func (h *Hydrator) copyHidden(ctx context.Context, g leaderboard.GuildRef) (done bool, err error) {
	if g.Hidden == 0 {
		return true, nil
	}
	has, err := h.live.CopyHidden(ctx, g, hidden.Part{})
	for err == nil && has < g.Hidden {
		var part hidden.Part
		if part, err = h.archive.HiddenAfter(ctx, g.ID, has); err == nil && part.Upto <= has {
			return true, leaderboard.ErrGuildMoved // the archive lost the change, or the guild is another one
		}
		if err == nil {
			has, err = h.live.CopyHidden(ctx, g, part)
		}
	}
	switch {
	case errors.Is(err, leaderboard.ErrNotLoaded):
		return false, nil
	case errors.Is(err, guild.ErrNotFound):
		return true, leaderboard.ErrGuildMoved
	case err != nil:
		return false, fmt.Errorf("copy the flags of hidden users of guild %s: %w", g.ID, err)
	}
	return true, nil
}
