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
	"levelboard/internal/usecase/periods"
)

type periodJSON struct {
	ID     string      `json:"id"`
	Kind   period.Kind `json:"kind"`
	Name   *string     `json:"name"` // of a season
	Start  time.Time   `json:"start"`
	End    time.Time   `json:"end"`
	Closed bool        `json:"closed"`
}

type periodsJSON struct {
	Periods []listedJSON `json:"periods"`
}

type listedJSON struct {
	periodJSON
	Members int64        `json:"members"`
	Gained  int64        `json:"gained"`
	Winners []winnerJSON `json:"winners"`
}

type winnerJSON struct {
	Rank   int64          `json:"rank"`
	UserID id.User        `json:"userId"`
	User   userWithColour `json:"user"`
	Gained int64          `json:"gained"`
}

type activityJSON struct {
	Days []activeDay `json:"days"`
}

type activeDay struct {
	Date    string `json:"date"`
	Gained  int64  `json:"gained"`
	Members int64  `json:"members"`
}

type historyJSON struct {
	Days []gainDay `json:"days"`
}

type gainDay struct {
	Date   string `json:"date"`
	Gained int64  `json:"gained"`
}

// closedName says which page of a closed period it is, and for whom.
type closedName struct {
	number  int64
	manager bool
	alias   bool // it was asked for as "week": later that is another one
}

// serveClosed answers with a page of a closed period, which only hiding and erasure change, so caches need not ask for minutes. Its
// ETag is made of its body.
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

func (a *api) listPeriods(c *gin.Context) error {
	r := a.read(c)
	r.entry()
	number := r.page()
	kind := r.kind()
	g := r.readable()
	if r.err != nil {
		return r.err
	}
	found, err := a.deps.Periods.Periods(r.ctx, g, kind, number)
	if err != nil {
		return err
	}
	body := periodsJSON{Periods: make([]listedJSON, len(found))}
	for i := range found {
		body.Periods[i] = listedBody(&found[i])
	}
	return answerPrivate(c, body)
}

// kind reads a kind of periods; empty when there is none.
func (r *request) kind() period.Kind {
	kind := period.Kind(r.query.Get("kind"))
	if r.query.Has("kind") && !slices.Contains(period.Kinds, kind) {
		r.keep(fault.New(fault.Invalid, "The query parameter kind must be day, week, month or season, or left out."))
	}
	return kind
}

func (a *api) getActivity(c *gin.Context) error {
	r := a.read(c)
	r.entry()
	days := r.days()
	g := r.readable()
	if r.err != nil {
		return r.err
	}
	found, err := a.deps.Periods.Activity(r.ctx, g, days)
	if err != nil {
		return err
	}
	body := activityJSON{Days: make([]activeDay, len(found))}
	for i, d := range found {
		body.Days[i] = activeDay{d.Day.String(), d.Gained, d.Members}
	}
	return answerPrivate(c, body)
}

func (a *api) getHistory(c *gin.Context) error {
	r := a.read(c)
	user := r.guildMember()
	days := r.days()
	g := r.permitted()
	if r.err != nil {
		return r.err
	}
	found, err := a.deps.Periods.History(r.ctx, g, user, days)
	if err != nil {
		return err
	}
	body := historyJSON{Days: make([]gainDay, len(found))}
	for i, d := range found {
		body.Days[i] = gainDay{d.Day.String(), d.Gained}
	}
	return answerPrivate(c, body)
}

// runningBody is a period that runs, by the guild's zone.
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
		body.Winners[i] = winnerJSON{w.Rank, w.UserID, pageUser(w.User), w.Gained}
	}
	return body
}
