package leaderboard

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/platform/shares"
)

const (
	// MaxFound is how many members one search finds at most.
	MaxFound = 20
	// namesTime bounds a search, its turn included.
	namesTime = 2 * time.Second
	// searchesAtOnce is how many searches use the archive's few connections, searchesOfOne how many of them may be one caller's.
	searchesAtOnce, searchesOfOne = 2, 1
)

const (
	// candidates is how many members are looked up in the live store for one search; the archive chooses those with the most XP.
	candidates = MaxViewUsers
	// walkPages of walkSize members, from the first rank on, are looked through for a text that many names begin with.
	walkPages, walkSize = 10, 1000
	// fewWords is how many words of the archive's index a search looks at before it looks through the board, some 20 ms.
	fewWords = 5000
)

// Names is where members are found by their names: the archive, for the live store has no room for an index.
type Names interface {
	// FindNames finds archived members who match the query: present ones first, then by XP.
	FindNames(ctx context.Context, g GuildRef, q Query, limits NameLimits) (Candidates, error)
}

// NameLimits bound one FindNames.
type NameLimits struct {
	Users int // that are found at most
	Words int // that an index is asked for at most; 0 is to look at every member of the guild
}

// Candidates are members whose names match.
type Candidates struct {
	Users []id.User
	// Many says that there are more words than were looked at, so members with more XP may be missing.
	Many bool
}

// Finder finds members by their names, the best rank first, or by their id. It is safe for concurrent use. The archive looks up the names, so a new
// name is found a snapshot interval later; XP and ranks are current, from the live store.
type Finder struct {
	board *Leaderboard
	names Names
	turns *shares.Pool // by caller
}

// NewFinder returns a Finder.
func NewFinder(board *Leaderboard, names Names) *Finder {
	return &Finder{board: board, names: names, turns: shares.New(searchesAtOnce, searchesOfOne)}
}

// Found is the result of a search.
type Found struct {
	Members []Ranked // by rank
	More    bool     // other members match, too; a longer text finds them
}

// Find finds the member with that id, or as Search does at most MaxFound members for the text (ParseQuery).
func (f *Finder) Find(ctx context.Context, caller string, g *guild.Guild, text string) (Found, error) {
	if user, err := id.Parse[id.User](strings.TrimSpace(text)); err == nil {
		v, err := f.board.View(ctx, g, Look{Users: []id.User{user}})
		return Found{Members: v.Members}, err
	}
	q, err := ParseQuery(text)
	if err != nil {
		return Found{}, err
	}
	return f.Search(ctx, caller, g, q, MaxFound)
}

// Search finds at most limit members (1 to MaxFound) by their names. A RateLimited fault when the caller has a search under way for too long, an
// Unavailable one when the archive does not respond.
//
// The archive has an index of words and none of ranks. If too many words match to look at all their members, Search first looks at the top of the
// board, where the best ranks are, and only then lets the archive scan every member. For a single letter it never scans.
func (f *Finder) Search(ctx context.Context, caller string, g *guild.Guild, q Query, limit int) (Found, error) {
	turn, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	place, err := f.turns.Wait(turn, caller)
	if errors.Is(err, shares.ErrShare) {
		return Found{}, &fault.Error{
			Code: fault.RateLimited, RetryAfter: namesTime, Cause: err,
			Message: "You search too often at once. Wait for what you searched for, then try again.",
		}
	}
	if err != nil {
		return Found{}, notFindable(err)
	}
	defer place.Release()
	named, err := f.names.FindNames(turn, Ref(g), q, NameLimits{Users: candidates, Words: fewWords})
	var all []Ranked
	part := false
	if err == nil && named.Many {
		if all, err = f.walk(ctx, g, q, limit+1); err != nil {
			return Found{}, err
		}
		if part = q.oneLetter(); !part && len(all) <= limit {
			named, err = f.names.FindNames(turn, Ref(g), q, NameLimits{Users: candidates})
		}
	}
	if err != nil {
		return Found{}, notFindable(err)
	}
	if len(all) <= limit && len(named.Users) > 0 {
		v, err := f.board.View(ctx, g, Look{Users: named.Users})
		if err != nil {
			return Found{}, err
		}
		all = byRank(append(all, v.Members...))
	}
	return Found{Members: all[:min(len(all), limit)], More: part || len(all) > limit}, nil
}

func notFindable(err error) error {
	return &fault.Error{
		Code:       fault.Unavailable,
		Message:    "Members cannot be found by name at the moment. Search for a user id, or try again in a few seconds.",
		Cause:      fmt.Errorf("find members by name: %w", err),
		RetryAfter: namesTime,
	}
}

// walk looks for the first of the board that match, up to so many.
func (f *Finder) walk(ctx context.Context, g *guild.Guild, q Query, enough int) (found []Ranked, err error) {
	for page := range int64(walkPages) {
		rows, err := f.board.rows(ctx, g, walkSize*page, walkSize)
		if err != nil {
			return nil, err
		}
		for _, m := range rows {
			if q.Matches(m.User) {
				found = append(found, m)
			}
		}
		if len(found) >= enough || len(rows) < walkSize {
			break
		}
	}
	return byRank(found), nil // a member that moved meanwhile may be there twice
}
