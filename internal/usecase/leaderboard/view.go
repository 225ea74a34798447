package leaderboard

import (
	"context"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
)

const (
	// MaxViewPages and MaxViewUsers bound one Look: a step of that size holds the live store up for a millisecond or two.
	MaxViewPages = 10
	MaxViewUsers = 100
	// MaxPage is beyond the last page of any board, far from overflow, and from where the floats of a script are no whole
	// numbers any more.
	MaxPage = 1 << 40
)

// Look says what to read of a board in one step: at most MaxViewPages pages and MaxViewUsers members.
type Look struct {
	Pages []int64 // numbers, from 1; one that is past the last page stands for the last
	Users []id.User
	// Unless, when set, asks for no pages and members when the guild still has that version.
	Unless *Version
}

// View is what a Look found, all of one moment.
type View struct {
	Version   Version
	Total     int64 // members with an entry
	Unchanged bool  // the guild has the version that Look.Unless names: Pages and Members were not read
	Pages     []NumberedPage
	Members   []Ranked // in the order of Look.Users; those without an entry are left out
}

// NumberedPage is a page of PageSize rows. Of a board without members, page 1 has none.
type NumberedPage struct {
	Number int64
	Rows   []Ranked
}

// LastPage is the number of the last page of a board with that many members.
func LastPage(members int64) int64 { return PageOf(max(members, 1)) }

// PageOf is the number of the page that a rank is on.
func PageOf(rank int64) int64 { return (max(rank, 1)-1)/PageSize + 1 }

// View looks at a board, in one round trip.
func (l *Leaderboard) View(ctx context.Context, g *guild.Guild, look Look) (View, error) {
	var v View
	err := l.loaded(ctx, g, "look at a board", func() (err error) {
		v, err = l.board.View(ctx, Ref(g), look)
		return err
	})
	return v, err
}
