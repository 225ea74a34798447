package checkpoints

import (
	"context"
	"iter"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/snapshot"
)

// exportPage is how many members one query reads: they are all that is in memory.
const exportPage = 1000

// Export returns a guild, and its members in ascending order of their ids, those included that are not present: with every change made before the
// call, and of later ones some. The first error ends the members.
func (c *Checkpoints) Export(ctx context.Context, gid id.Guild) (*guild.Guild, iter.Seq2[snapshot.Row, error], error) {
	g, err := c.archive.Guild(ctx, gid)
	if err == nil {
		err = c.archived(ctx, leaderboard.Ref(g))
	}
	if err != nil {
		return nil, nil, asFault("export members", err)
	}
	return g, func(yield func(snapshot.Row, error) bool) {
		for after, more := id.User(""), true; more; {
			rows, err := c.archive.Members(ctx, leaderboard.Ref(g), after, exportPage)
			if err != nil {
				yield(snapshot.Row{}, err)
				return
			}
			for i := range rows {
				if !yield(rows[i], nil) {
					return
				}
				after = rows[i].UserID
			}
			more = len(rows) == exportPage
		}
	}, nil
}
