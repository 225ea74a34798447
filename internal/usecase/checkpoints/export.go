package checkpoints

import (
	"context"
	"iter"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// exportPage is how many members one query reads. Only these are in memory.
const exportPage = 1000

// Export returns a guild and its members, absent ones included, in ascending order of their ids. They
// have every change made before the call, and may have some later ones. The first error ends the members.
func (c *Checkpoints) Export(ctx context.Context, gid id.Guild) (*guild.Guild, iter.Seq2[importer.Exported, error], error) {
	g, err := c.archive.Guild(ctx, gid)
	if err == nil {
		err = c.archived(ctx, leaderboard.Ref(g))
	}
	if err != nil {
		return nil, nil, asFault("export members", err)
	}
	return g, func(yield func(importer.Exported, error) bool) {
		for after, more := id.User(""), true; more; {
			rows, err := c.archive.Members(ctx, leaderboard.Ref(g), after, exportPage)
			if err != nil {
				yield(importer.Exported{}, err)
				return
			}
			users := make([]id.User, len(rows))
			for i := range rows {
				users[i] = rows[i].UserID
			}
			flags, err := c.archive.HiddenAmong(ctx, gid, users)
			if err != nil {
				yield(importer.Exported{}, err)
				return
			}
			for i := range rows {
				if !yield(importer.Exported{Member: rows[i].Member, Present: !rows[i].Absent, Hidden: flags[rows[i].UserID]}, nil) {
					return
				}
				after = rows[i].UserID
			}
			more = len(rows) == exportPage
		}
	}, nil
}
