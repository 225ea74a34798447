package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"levelboard/internal/fault"
	"levelboard/internal/guild"
	"levelboard/internal/leaderboard"
)

// lastPage is beyond the last page of any board and far from overflow.
const lastPage = 1 << 40

// leaderboardPage is the content of a guild's board.
type leaderboardPage struct {
	Guild   *guild.Guild
	Base    string // path of the board
	Number  int64
	Rows    []leaderboardRow
	Manager bool
	Before  int64 // number of the page before, or 0
	After   int64 // number of the next page, or 0
}

// leaderboardRow is a member on a board.
type leaderboardRow struct {
	leaderboard.Ranked
	Name     string // what to call them
	Handle   string // their user name where that differs, or empty
	Avatar   string // avatar hash, or empty
	Level    int
	Progress float64 // 0 to 100
	Missing  int64   // XP to the next level; 0 at the last
}

func (s *Site) leaderboard(c *gin.Context) error {
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	g, err := s.guildOf(c.Request.Context(), c.Param("entry"))
	if err != nil {
		return err
	}
	who := visitorOf(c)
	if !who.Session.MayRead(g) {
		if _, err := signedIn(c, "This leaderboard is private. Sign in to see it, if you are a member of the community."); err != nil {
			return err
		}
		return fault.New(fault.Forbidden, "This leaderboard is private, and you are not a member of its community.")
	}
	read, err := s.deps.Board.Page(c.Request.Context(), g, number)
	if err != nil {
		return err
	}
	content := leaderboardPage{
		Guild: g, Base: "/leaderboard/" + entryOf(g), Number: number, Rows: leaderboardRows(g, read.Rows),
		Manager: who.Session.Manages(g), Before: number - 1,
	}
	if len(read.Rows) == leaderboard.PageSize {
		content.After = number + 1
	}
	return s.show(c, http.StatusOK, "leaderboard", g.Name, content)
}

// guildOf finds the guild whose board is named by an id or a vanity; a NotFound fault also when leveling is off.
func (s *Site) guildOf(ctx context.Context, entry string) (g *guild.Guild, err error) {
	gid, vanity, err := guild.ParseEntry(entry)
	switch {
	case err != nil:
		return nil, fault.New(fault.NotFound, "No community has this name or id. Check the address.")
	case gid != "":
		g, err = s.deps.Guilds.ByID(ctx, gid)
	default:
		g, err = s.deps.Guilds.ByVanity(ctx, vanity)
	}
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.NotFound, "No community has this name or id. Check the address; its bot has to have set it up here first.")
	}
	if err == nil && !g.Enabled {
		return nil, fault.New(fault.NotFound, "Leveling is switched off in this community. Its owner can switch it on.")
	}
	return g, err
}

// entryOf is what a board's address ends in.
func entryOf(g *guild.Guild) string {
	if g.Vanity != "" {
		return g.Vanity
	}
	return string(g.ID)
}

// pageNumber reads the number of a page; none is the first.
func pageNumber(text string) (int64, error) {
	if text == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return 0, fault.New(fault.Invalid, "The page must be a whole number from 1.")
	}
	return min(n, lastPage), nil
}

func leaderboardRows(g *guild.Guild, ranked []leaderboard.Ranked) []leaderboardRow {
	rows := make([]leaderboardRow, len(ranked))
	for i, r := range ranked {
		level, next, progress := g.Curve.Progress(r.XP)
		row := leaderboardRow{Ranked: r, Level: int(level), Progress: progress, Missing: max(int64(next-r.XP), 0)}
		row.Name, row.Handle = displayName(r.User, string(r.UserID))
		row.Avatar = text(r.User.Avatar)
		rows[i] = row
	}
	return rows
}

// displayName is what to call a member, and their user name where that says more. Of somebody who only wrote messages
// nothing may be known but the id.
func displayName(u leaderboard.User, userID string) (name, handle string) {
	switch {
	case u.GlobalName != nil && *u.GlobalName != "":
		if *u.GlobalName != u.Username {
			handle = u.Username
		}
		return *u.GlobalName, handle
	case u.Username != "":
		return u.Username, ""
	default:
		return fmt.Sprintf("Member %s", userID[max(0, len(userID)-4):]), ""
	}
}

// Medal is "gold", "silver" or "bronze" for the first three ranks, else empty.
func (r leaderboardRow) Medal() string {
	switch r.Rank {
	case 1:
		return "gold"
	case 2:
		return "silver"
	case 3:
		return "bronze"
	}
	return ""
}
