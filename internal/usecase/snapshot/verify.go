package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
)

// verify puts a guild into use that is still there after its server became another one, and that holds all that is
// archived. The epoch is raised, as by every load, so that a batch which was read from the server before cannot be committed
// any more: the archive must not come to hold what this server does not know of.
func (h *Hydrator) verify(ctx context.Context, lock Hydration, before State) (done bool, err error) {
	state, err := h.archive.RaiseEpoch(ctx, lock.Guild, before, lock.Rev)
	if errors.Is(err, ErrStale) {
		return false, nil // such a batch was faster, or the guild was deleted: the next attempt finds out which
	}
	if err == nil {
		err = h.live.Verified(ctx, lock, state)
	}
	if err != nil {
		return false, fmt.Errorf("verify guild %s: %w", lock.Guild.ID, err)
	}
	h.log.DebugContext(ctx, "guild verified: the live store holds all that is archived", "guild", lock.Guild.ID, "epoch", state.Epoch)
	return true, nil
}

// salvage is for a guild that is older than what is archived, because Redis came back from an old dump, or as a replica that
// lagged. Before it is loaded again, what changed on it and was not archived is merged into the archive, where everybody
// keeps the higher XP of the two. Cut off anywhere, it is repeated with the same result.
func (h *Hydrator) salvage(ctx context.Context, lock Hydration, before State) error {
	wentBack.Inc()
	merged := 0
	err := h.live.Unsaved(ctx, lock, func(b Batch) error {
		b, err := h.withoutErased(ctx, b)
		if err != nil {
			return err
		}
		merged += len(b.entries())
		return h.bad.write(b, func(part Batch) error { return h.archive.Salvage(ctx, before, part) })
	})
	if err != nil {
		return fmt.Errorf("salvage guild %s: %w", lock.Guild.ID, err)
	}
	h.log.ErrorContext(ctx, "Redis has gone back in time: it does not know of members that are archived; the guild is loaded again from the archive. "+
		"Find out why Redis lost what it had: see docs/durability.md",
		"guild", lock.Guild.ID, "archivedEpoch", before.Epoch, "archivedRev", before.Archived, "unsavedMembersKept", merged)
	return nil
}

// withoutErased leaves out what a batch has of users from before they were erased.
func (h *Hydrator) withoutErased(ctx context.Context, b Batch) (Batch, error) {
	var users []id.User
	for i := range b.Rows {
		users = append(users, b.Rows[i].UserID)
	}
	for i := range b.Records {
		users = append(users, b.Records[i].Users...)
		if r := b.Records[i].Audit; r != nil {
			users = append(append(users, r.UserID, id.User(r.By.Actor.ID)), audit.Mentioned(r.By.Reason)...)
		}
	}
	erased, err := h.archive.Erased(ctx, users)
	if err != nil || len(erased) == 0 {
		return b, err
	}
	old := func(user id.User, at time.Time) bool {
		e, found := erased[user]
		return found && !at.After(e.Until)
	}
	b.Rows = slices.DeleteFunc(b.Rows, func(r Row) bool { return !r.Deleted && old(r.UserID, r.LastUpdated) })
	b.Mended = slices.DeleteFunc(b.Mended, func(user id.User) bool { return erased[user] != Erasure{} })
	kept := b.Records[:0]
	for _, r := range b.Records {
		if a := r.Audit; a != nil {
			if old(a.UserID, r.At) {
				a.UserID = id.User(erased[a.UserID].As)
			}
			if by := &a.By.Actor; old(id.User(by.ID), r.At) {
				by.Name = erased[id.User(by.ID)].As
				by.ID = by.Name
			}
			a.By.Reason = audit.Rename(a.By.Reason, func(user id.User) string {
				if old(user, r.At) {
					return erased[user].As
				}
				return string(user)
			})
		}
		named := len(r.Users)
		r.Users = slices.DeleteFunc(r.Users, func(user id.User) bool { return old(user, r.At) })
		if named > 0 && len(r.Users) == 0 {
			r = Record{At: r.At, Audit: r.Audit}
		}
		if r.Audit != nil || r.Name != (leaderboard.Digest{}) {
			kept = append(kept, r)
		}
	}
	b.Records = kept
	return b, nil
}
