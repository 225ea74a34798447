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
	// MaxFound is the maximum number of members that one search returns.
	MaxFound = 20
	// namesTime bounds a search, including the wait for its turn.
	namesTime = 2 * time.Second
	// searchesAtOnce is how many searches may use the archive's few connections, and searchesOfOne how many of these one caller may have.
	searchesAtOnce, searchesOfOne = 2, 1
)

const (
	// candidates is how many members one search looks up in the live store. The archive chooses those with the most XP.
	candidates = MaxViewUsers
	// If many names begin with the text, a search reads walkPages of walkSize members from the board's top.
	walkPages, walkSize = 10, 1000
	// fewWords is how many words of the archive's index a search reads before it reads the board. That takes some 20 ms.
	fewWords = 5000
)

// Names finds members by their names. It is the archive, because the live store has no room for an index.
type Names interface {
	// FindNames finds archived members who match the query: present ones first, then by XP.
	FindNames(ctx context.Context, g GuildRef, q Query, limits NameLimits) (Candidates, error)
}

// NameLimits bound one FindNames.
type NameLimits struct {
	Users int // maximum number of members to return
	Words int // maximum number of words of the index to read; 0 reads every member of the guild
}

// Candidates are members whose names match.
type Candidates struct {
	Users []id.User
	// Many says that more words match than were read, so members with more XP may be missing.
	Many bool
}

// Finder finds members by name, best rank first, or by id. It is safe for concurrent use. The archive looks up the
// names, so it finds a new name one snapshot interval later. XP and ranks come from the live store and are current.
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
	More    bool     // other members match too; a longer text finds them
}

// Find finds the member with the id in text. For any other text it finds at most MaxFound members like Search (ParseQuery).
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

// Search finds at most limit members (1 to MaxFound) by name. It returns a RateLimited fault while the
// caller's earlier search is still running, and an Unavailable fault if the archive does not respond.
//
// The archive has an index of words, but not of ranks. If too many words match to read all their members, Search first reads the
// top of the board, which has the best ranks. Only then does it let the archive scan every member, and never for a single letter.
func (f *Finder) Search(ctx context.Context, caller string, g *guild.Guild, q Query, limit int) (Found, error) {
	turn, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	place, err := f.turns.Wait(turn, caller)
	if errors.Is(err, shares.ErrShare) {
		return Found{}, &fault.Error{
			Code: fault.RateLimited, RetryAfter: namesTime, Cause: err,
			Message: "An earlier search of yours has not ended. Wait for its result, then try again.",
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

// walk reads the top of the board for members that match, until it has enough.
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
