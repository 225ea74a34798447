package httpapi

import (
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/http/edge"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

type periodJSON struct {
	ID     string      `json:"id"`
	Kind   period.Kind `json:"kind"`
	Name   *string     `json:"name"` // of a season; else null
	Start  time.Time   `json:"start"`
	End    time.Time   `json:"end"`
	Closed bool        `json:"closed"`
}

type listedJSON struct {
	periodJSON
	Members int64        `json:"members"`
	Gained  int64        `json:"gained"`
	Winners []winnerJSON `json:"winners"`
}

type winnerJSON struct {
	Rank   int64            `json:"rank"`
	UserID id.User          `json:"userId"`
	User   leaderboard.User `json:"user"`
	Gained int64            `json:"gained"`
}

type activeDay struct {
	Date    string `json:"date"`
	Gained  int64  `json:"gained"`
	Members int64  `json:"members"`
}

// closedName identifies a page of a closed period, and its kind of reader.
type closedName struct {
	number  int64
	manager bool
	alias   bool // the request said "week": later that is another one
}

// serveClosed answers with a page of a closed period. Only hiding and erasure change
// it, so caches need not revalidate for minutes. Its ETag is made from its body.
func (a *api) serveClosed(c *gin.Context, g *guild.Guild, closed *periods.Closed, name closedName) error {
	rows, err := a.deps.Periods.Page(c.Request.Context(), g, closed.Period, name.number)
	if err != nil {
		return err
	}
	body, err := encode(standingsBody(&closed.Settings, periodBody(closed.Period, closed.Begins, closed.Ends, true), rows, name.manager))
	if err != nil {
		return err
	}
	kept := forMinutes
	if name.alias {
		kept = noCache
	}
	tag := edge.BodyETag(body)
	if same, ok := edge.MatchETag(c.Request.Header["If-None-Match"], tag); ok {
		setKept(c, same, varyPage, kept)
		c.Status(http.StatusNotModified)
		return nil
	}
	setKept(c, tag, varyPage, kept)
	return write(c, http.StatusOK, body)
}

func (a *api) listPeriods(r *request) (any, error) {
	r.entry()
	number := r.page()
	kind := r.kind()
	g := r.readable()
	if r.err != nil {
		return nil, r.err
	}
	found, err := a.deps.Periods.Periods(r.ctx, g, kind, number)
	list := make([]listedJSON, len(found))
	for i := range found {
		list[i] = listedBody(&found[i])
	}
	return object{"periods": list}, err
}

// kind reads a kind of periods; it is empty when there is none.
func (r *request) kind() period.Kind {
	kind := period.Kind(r.query.Get("kind"))
	if r.query.Has("kind") && !slices.Contains(period.Kinds, kind) {
		r.keep(fault.New(fault.Invalid, "The query parameter kind must be day, week, month or season, or left out."))
	}
	return kind
}

func (a *api) getActivity(r *request) (any, error) {
	r.entry()
	days := r.days()
	g := r.readable()
	if r.err != nil {
		return nil, r.err
	}
	found, err := a.deps.Periods.Activity(r.ctx, g, days)
	list := make([]activeDay, len(found))
	for i, d := range found {
		list[i] = activeDay{d.Day.String(), d.Gained, d.Members}
	}
	return object{"days": list}, err
}

func (a *api) getHistory(r *request) (any, error) {
	user := r.guildMember()
	days := r.days()
	g := r.permitted()
	if r.err != nil {
		return nil, r.err
	}
	found, err := a.deps.Periods.History(r.ctx, g, user, days)
	return object{"days": found}, err
}

// runningBody is a period that is running, in the guild's zone.
func runningBody(g *guild.Guild, p period.Period) periodJSON {
	begins, ends := p.Bounds(g.Calendar().Zone)
	return periodBody(p, begins, ends, false)
}

func periodBody(p period.Period, begins, ends time.Time, closed bool) periodJSON {
	return periodJSON{ID: p.ID, Kind: p.Kind, Name: p.SeasonName(), Start: begins.UTC(), End: ends.UTC(), Closed: closed}
}

func listedBody(l *periods.Listed) listedJSON {
	body := listedJSON{
		periodJSON: periodBody(l.Period, l.Begins, l.Ends, l.Over), Members: l.Members, Gained: l.Gained, Winners: make([]winnerJSON, len(l.Winners)),
	}
	for i, w := range l.Winners {
		body.Winners[i] = winnerJSON{w.Rank, w.UserID, w.User, w.Gained}
	}
	return body
}
