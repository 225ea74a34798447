package hydrate

import (
	"context"
	"slices"
	"time"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// withoutErased removes from a batch the data of users from before their erasure.
func (h *Hydrator) withoutErased(ctx context.Context, b snapshot.Batch) (snapshot.Batch, error) {
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
	b.Rows = slices.DeleteFunc(b.Rows, func(r snapshot.Row) bool { return !r.Deleted && old(r.UserID, r.LastUpdated) })
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
			r = snapshot.Record{At: r.At, Audit: r.Audit}
		}
		if r.Audit != nil || r.Name != (leaderboard.Digest{}) {
			kept = append(kept, r)
		}
	}
	b.Records = kept
	return b, nil
}
