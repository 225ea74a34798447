package web

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// maxShown is how many characters of a name are shown where there are many names.
	maxShown = 48
	// pagesKept is how many pages are kept rendered, each at most some 150 KB.
	pagesKept = 100
)

// leaderboardRow is a member on a board.
type leaderboardRow struct {
	leaderboard.Ranked
	Base     string // path of the board
	Name     string // what to call them
	Handle   string // their user name where that differs, or empty
	Avatar   string // avatar hash, or empty
	Level    int
	Progress float64 // 0 to 100
	Missing  int64   // XP to next level; 0 at the last
	Max      bool    // nobody gets any further
}

func newRow(g *guild.Guild, r leaderboard.Ranked) leaderboardRow {
	at, next, progress := g.Curve.Progress(r.XP)
	row := leaderboardRow{
		Ranked: r, Base: boardPath(g), Avatar: text(r.User.Avatar), Level: int(at), Progress: progress, Missing: max(int64(next-r.XP), 0),
		Max: level.Highest(at, next),
	}
	row.Name, row.Handle = displayName(r.User, string(r.UserID))
	row.Name, row.Handle = cut(row.Name, maxShown), cut(row.Handle, maxShown)
	return row
}

// displayName is what to call a member, and their user name where that says more. Of somebody who only wrote messages the id may be all.
func displayName(u leaderboard.User, userID string) (name, handle string) {
	name, handle = displayname.Clean(text(u.GlobalName)), displayname.Clean(u.Username)
	switch {
	case name == "" && handle == "":
		return fmt.Sprintf("Member %s", userID[max(0, len(userID)-4):]), ""
	case name == "" || name == handle:
		return handle, ""
	}
	return name, handle
}

// nameOr is a name as it can be seen, or the id of what has none.
func nameOr[T ~string](name string, unnamed T) string {
	return cmp.Or(displayname.Clean(name), string(unnamed))
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// short writes a number in little room: in full below a million, and then with two decimals, rounded down.
func short(n level.XP) string {
	switch {
	case n < 1e6:
		return count(n)
	case n < 1e9:
		return strconv.FormatFloat(float64(n/1e4)/100, 'f', 2, 64) + "M"
	default:
		return strconv.FormatFloat(float64(n/1e7)/100, 'f', 2, 64) + "B"
	}
}

// renderedRow is a row as everybody sees it.
type renderedRow struct {
	user id.User
	html string
}

// renderedPage is the rows of a page as of a version.
type renderedPage struct {
	version leaderboard.Version
	rows    []renderedRow
}

type pageName struct {
	guild    guild.Incarnation
	settings int64
	number   int64
}

// renderedPages keeps the pages that were rendered last, so that all who watch one share the work. It is safe for concurrent use.
type renderedPages struct {
	kept     *lru.Cache[pageName, renderedPage]
	underway singleflight.Group
}

func newRenderedPages() *renderedPages {
	kept, err := lru.New[pageName, renderedPage](pagesKept)
	if err != nil {
		panic(err) // only for a size that is not positive, and it is a constant
	}
	return &renderedPages{kept: kept}
}

// renderRows renders the rows of a page that was read at this version. Nobody may change what it returns.
func (s *Site) renderRows(g *guild.Guild, version leaderboard.Version, page leaderboard.NumberedPage) ([]renderedRow, error) {
	name := pageName{g.Incarnation, g.Version, page.Number}
	if kept, ok := s.rendered.kept.Get(name); ok && kept.version == version {
		return kept.rows, nil
	}
	rows, err, _ := s.rendered.underway.Do(fmt.Sprint(name, version), func() (any, error) {
		rows := make([]renderedRow, len(page.Rows))
		for i, member := range page.Rows {
			var html bytes.Buffer
			if err := s.templates["leaderboard"].ExecuteTemplate(&html, "row", newRow(g, member)); err != nil {
				return nil, fmt.Errorf("render a row: %w", err)
			}
			rows[i] = renderedRow{member.UserID, html.String()}
		}
		s.rendered.kept.Add(name, renderedPage{version, rows})
		return rows, nil
	})
	if err != nil {
		return nil, err
	}
	return rows.([]renderedRow), nil
}
