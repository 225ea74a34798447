package redisstore

import (
	"context"

	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/snapshot"
)

var (
	noteUnsavedScript = newScript("note_unsaved", "epoch", "now")
	lowerScript       = newScript("lower_archived", "epoch")
)

// NoteUnsaved implements snapshot.Live. It notes a few hundred users at a time, so that no call blocks the server for long.
func (s *Store) NoteUnsaved(ctx context.Context, l snapshot.Load, users []id.User) (archived int64, err error) {
	for first := true; first || len(users) > 0; first = false {
		part := users[:min(len(users), chunkRows)]
		users = users[len(part):]
		args := append(make([]any, 0, 2+len(part)), int64(l.Guild.Incarnation), l.Epoch)
		for _, user := range part {
			args = append(args, string(user))
		}
		k := keysOf(l.Guild.ID)
		r, err := s.run(ctx, noteUnsavedScript, []string{k.meta(), k.dirty()}, args...)
		if err != nil {
			return 0, err
		}
		archived = r.of("archived").number()
		if err := r.done("note again"); err != nil {
			return 0, err
		}
	}
	return archived, nil
}

// NoteAllUnsaved implements snapshot.Live. A member that is created or deleted meanwhile is noted by that change.
func (s *Store) NoteAllUnsaved(ctx context.Context, l snapshot.Load) error {
	return s.eachMember(ctx, s.client.HScan, keysOf(l.Guild.ID).entry(), func(users []id.User) error {
		_, err := s.NoteUnsaved(ctx, l, users)
		return err
	})
}

// LowerArchived implements snapshot.Live.
func (s *Store) LowerArchived(ctx context.Context, l snapshot.Load, from, to int64) (lowered bool, err error) {
	r, err := s.run(ctx, lowerScript, []string{keysOf(l.Guild.ID).meta()}, int64(l.Guild.Incarnation), l.Epoch, from, to)
	if err != nil {
		return false, err
	}
	return r.of("lowered").number() == 1, r.done("lower archived")
}
