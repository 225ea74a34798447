package importer

import (
	"context"
	"hash/maphash"
	"iter"

	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// Index is the members that a guild has, by their ids: some 60 bytes for each.
type Index map[uint64]current

// current is a member as the guild has it.
type current struct {
	xp           level.XP
	messageCount int64
	user         uint64 // digestOf the user data
	present      bool
}

// NewIndex reads all rows, each of another member.
func NewIndex(ctx context.Context, rows iter.Seq2[Row, error]) (Index, error) {
	x := Index{}
	for row, err := range rows {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		now := current{xp: row.XP, present: row.Present}
		if row.MessageCount != nil {
			now.messageCount = *row.MessageCount
		}
		var user leaderboard.User
		if row.User != nil {
			user = *row.User
		}
		now.user = digestOf(user)
		x[number64(row.UserID)] = now
	}
	return x, nil
}

var seed = maphash.MakeSeed()

// digestOf tells user data apart, as far as an import can set it.
func digestOf(u leaderboard.User) uint64 {
	text := func(s *string) string {
		if s == nil {
			return "\x00" // no text has it
		}
		return *s
	}
	return maphash.Comparable(seed, [4]string{u.Username, u.Discriminator, text(u.GlobalName), text(u.Avatar)})
}
