package web

import (
	"cmp"
	"fmt"
	"strconv"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/platform/cached"
	"levelboard/internal/usecase/leaderboard"
)

const (
	// maxShown is how many characters of a name are shown in a list of names.
	maxShown = 48
	// pagesKept is how many rendered pages are cached, each at most some 150 KB.
	pagesKept = 100
)

// leaderboardRow is a member on a board.
type leaderboardRow struct {
	leaderboard.Standing
	Anchor   string // prefix of its element's id
	Base     string // path of the board
	Name     string // the name to show
	Handle   string // their user name if that differs, or empty
	Avatar   string // avatar hash, or empty
	Level    int
	Progress float64 // 0 to 100
	Missing  int64   // XP to the next level; 0 at the last
	Max      bool    // at the highest level
	Role     *guild.Role
	Next     *guild.RoleReward
	InPeriod bool // the board ranks by Gained
}

// newRow makes the row of a member on the board of all time.
func newRow(g *guild.Guild, r leaderboard.Ranked) leaderboardRow {
	v := boardView{settings: &g.Settings}
	return v.row(g, leaderboard.Standing{Ranked: r})
}

func (v *boardView) row(g *guild.Guild, r leaderboard.Standing) leaderboardRow {
	at, next, progress := v.settings.Curve.Progress(r.XP)
	row := leaderboardRow{
		Standing: r, Anchor: "m", Base: boardPath(g), Avatar: text(r.User.Avatar), Level: int(at), Progress: progress,
		Missing: max(int64(next-r.XP), 0), Max: level.Highest(at, next), Role: shownRole(v.settings, at), Next: nextReward(v.settings, at),
		InPeriod: v.period != nil,
	}
	row.Name, row.Handle = displayName(r.User, string(r.UserID))
	row.Name, row.Handle = displayname.Cut(row.Name, maxShown), displayname.Cut(row.Handle, maxShown)
	return row
}

// shownRole returns a role with a colour that members of a level have: of the highest reward with one. It returns nil if there is none.
func shownRole(s *guild.Settings, at level.Level) *guild.Role {
	highest := true
	for i := len(s.RoleRewards) - 1; i >= 0; i-- {
		r := &s.RoleRewards[i]
		if r.Level > at || !highest && !r.Stack {
			continue
		}
		highest = false
		for j := range r.Roles {
			if coloured(r.Roles[j]) {
				return &r.Roles[j]
			}
		}
	}
	return nil
}

// nextReward returns the first reward above a level that has roles, or nil.
func nextReward(s *guild.Settings, at level.Level) *guild.RoleReward {
	for i := range s.RoleRewards {
		if r := &s.RoleRewards[i]; r.Level > at && len(r.Roles) > 0 {
			return r
		}
	}
	return nil
}

// displayName returns the name to show for a member, and their username if it
// differs. A member without a visible name is shown by the end of their ID.
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

// nameOr returns the cleaned name, or the id if nothing of the name is visible.
func nameOr[T ~string](name string, unnamed T) string {
	return cmp.Or(displayname.Clean(name), string(unnamed))
}

// short writes a number below a million in full, and a larger one with two decimals, rounded down: 4.99M.
func short[T int64 | level.XP](n T) string {
	switch {
	case n < 1e6:
		return count(n)
	case n < 1e9:
		return strconv.FormatFloat(float64(n/1e4)/100, 'f', 2, 64) + "M"
	default:
		return strconv.FormatFloat(float64(n/1e7)/100, 'f', 2, 64) + "B"
	}
}

// renderedRow is a row as all visitors see it.
type renderedRow struct {
	user id.User
	html string
}

// renderedPage is the rows of a page in one version.
type renderedPage struct {
	version leaderboard.Version
	rows    []renderedRow
}

type pageName struct {
	guild    guild.Incarnation
	settings int64
	period   string // its id, or empty
	number   int64
}

// renderedPages caches rendered pages, so that all visitors who read or watch a page share the work. It is safe for concurrent use.
type renderedPages struct {
	kept     *lru.Cache[pageName, renderedPage]
	underway singleflight.Group
}

func newRenderedPages() *renderedPages {
	return &renderedPages{kept: cached.NewLRU[pageName, renderedPage](pagesKept)}
}

// renderRows renders the rows of a page. Callers must not change the result.
func (s *Site) renderRows(g *guild.Guild, v *boardView) ([]renderedRow, error) {
	if v.over { // a closed period has no version to cache it by, but an erasure changes it
		return s.renderAll(g, v)
	}
	name := pageName{guild: g.Incarnation, settings: g.Version, number: v.Number}
	if v.period != nil {
		name.period = v.period.ID
	}
	if kept, ok := s.rendered.kept.Get(name); ok && kept.version == v.Version {
		return kept.rows, nil
	}
	rows, err, _ := s.rendered.underway.Do(fmt.Sprint(name, v.Version), func() (any, error) {
		rows, err := s.renderAll(g, v)
		if err == nil {
			s.rendered.kept.Add(name, renderedPage{v.Version, rows})
		}
		return rows, err
	})
	if err != nil {
		return nil, err
	}
	return rows.([]renderedRow), nil
}

func (s *Site) renderAll(g *guild.Guild, v *boardView) ([]renderedRow, error) {
	rows := make([]renderedRow, len(v.Rows))
	for i, member := range v.Rows {
		html, err := s.renderRow(v.row(g, member))
		if err != nil {
			return nil, err
		}
		rows[i] = renderedRow{member.UserID, html}
	}
	return rows, nil
}

func (s *Site) renderRow(row leaderboardRow) (string, error) {
	html, err := s.renderPart("row", row)
	return string(html), err
}
