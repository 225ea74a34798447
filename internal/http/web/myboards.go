package web

import (
	"context"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/audit"
	"levelboard/internal/usecase/erasure"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/signin"
)

// mostBoards is the maximum number of a user's boards that are shown.
const mostBoards = 50

// myBoard is a community in which the user has an entry.
type myBoard struct {
	Community community
	Board     string // path of the board
	Page      string // path of the user's own page; empty if they are not on the board
	Rank, Of  int64  // 0 if they are not on the board
	Level     level.Level
	XP        level.XP
}

// boardsOf lists a user's entries in communities whose boards they may read, with their ranks, in the order of ids.
func (s *Site) boardsOf(ctx context.Context, session *signin.Session, stored []erasure.Membership) ([]myBoard, error) {
	var boards []myBoard
	for _, m := range stored[:min(len(stored), mostBoards)] {
		g, err := s.deps.Guilds.ByID(ctx, m.Guild.ID)
		if fault.Is(err, fault.NotFound) || err == nil && (!g.Enabled || !session.MayRead(g)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		board := myBoard{Community: communityOf(g), Board: boardPath(g), Level: m.Level, XP: m.Row.XP}
		v, err := s.deps.Board.View(ctx, g, leaderboard.Look{Users: []id.User{session.User.ID}})
		if err != nil {
			return nil, err
		}
		if len(v.Members) == 1 {
			board.Rank, board.Of, board.Page = v.Members[0].Rank, v.Total, boardPath(g)+"/members/"+string(session.User.ID)
		}
		boards = append(boards, board)
	}
	return boards, nil
}

// myBoards lists the boards that the user is on.
func (s *Site) myBoards(ctx context.Context, session *signin.Session) ([]myBoard, error) {
	stored, err := s.deps.Users.Known(ctx, session.User.ID)
	if err != nil {
		return nil, err
	}
	boards, err := s.boardsOf(ctx, session, stored.Guilds)
	return slices.DeleteFunc(boards, func(b myBoard) bool { return b.Rank == 0 }), err
}

// myData is all that is stored about a user, as the operator reads it, with gains and the audit records about them.
type myData struct {
	UserID       id.User       `json:"userId"`
	Guilds       []myEntry     `json:"guilds"`
	Keys         []erasure.Key `json:"keys"`
	Sessions     int64         `json:"sessions"`
	AuditRecords int64         `json:"auditRecords"`
	Audit        []myAudit     `json:"audit"`
}

type myEntry struct {
	erasure.GuildDocument `json:",inline"`
	Name                  string   `json:"name"`
	Gains                 []myGain `json:"gains"`
}

type myGain struct {
	Date   string `json:"date"`
	Gained int64  `json:"gained"`
}

// myAudit leaves out the actor, who may be another person.
type myAudit struct {
	GuildID id.Guild       `json:"guildId"`
	At      string         `json:"at"`
	Action  audit.Action   `json:"action"`
	Before  jsontext.Value `json:"before,omitzero"` // XP
	After   jsontext.Value `json:"after,omitzero"`
	Reason  string         `json:"reason,omitzero"` // left out if it names another person
}

// myDataFile answers with a file of all that is stored about the signed-in user.
func (s *Site) myDataFile(c *gin.Context, session *signin.Session, _ *form) error {
	ctx, user := c.Request.Context(), session.User.ID
	stored, err := s.deps.Users.Known(ctx, user)
	if err != nil {
		return err
	}
	data := myData{UserID: user, Guilds: []myEntry{}, Keys: stored.Keys, Sessions: stored.Sessions, AuditRecords: stored.AuditRecords, Audit: []myAudit{}}
	switches, err := s.hidingSwitches(ctx, stored)
	if err != nil {
		return err
	}
	for _, in := range switches {
		g := in.guild
		entry := myEntry{erasure.InGuild{Guild: g.ID, Entry: in.entry, Flags: in.Flags}.Document(), g.Name, []myGain{}}
		if in.entry != nil {
			if entry.Gains, err = s.gainsOf(ctx, g, user); err != nil {
				return err
			}
		}
		data.Guilds = append(data.Guilds, entry)
		if data.Audit, err = s.appendAudit(ctx, data.Audit, g.ID, user); err != nil {
			return err
		}
	}
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	c.Header("Content-Disposition", `attachment; filename="levelboard-data.json"`)
	s.send(c, http.StatusOK, jsonType, append(body, '\n'))
	return nil
}

func (s *Site) gainsOf(ctx context.Context, g *guild.Guild, user id.User) ([]myGain, error) {
	gains := []myGain{}
	found, err := s.deps.Periods.History(ctx, g, user, periods.MaxHistory)
	if err != nil && !fault.Is(err, fault.NotFound) { // absent members have no gains to read
		return nil, err
	}
	for _, day := range found {
		gains = append(gains, myGain{day.Day.String(), day.Gained})
	}
	return gains, nil
}

// appendAudit adds the newest records about a user in a guild.
func (s *Site) appendAudit(ctx context.Context, list []myAudit, g id.Guild, user id.User) ([]myAudit, error) {
	page, err := s.deps.Audit.Read(ctx, g, audit.Query{User: user, Limit: audit.MaxLimit})
	if err != nil {
		return nil, err
	}
	for i := range page.Records {
		r := &page.Records[i]
		mine := myAudit{GuildID: g, At: r.At().Format(importer.TimeFormat), Action: r.Action}
		if r.Before.Kind() == '0' || r.After.Kind() == '0' {
			mine.Before, mine.After = r.Before, r.After
		}
		if !slices.ContainsFunc(audit.Mentioned(r.By.Reason), func(u id.User) bool { return u != user }) {
			mine.Reason = r.By.Reason
		}
		list = append(list, mine)
	}
	return list, nil
}
