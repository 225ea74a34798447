package httpapi

import (
	"net/http"
	"net/url"
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

// serveClosed answers with a page of a closed period, which stays as it is, so caches need not ask again. Its ETag is made of its body: an
// erasure changes it.
func (a *api) serveClosed(c *gin.Context, g *guild.Guild, closed *periods.Closed, name closedName) error {
	rows, err := a.deps.Periods.Page(c.Request.Context(), g, closed.Period, name.number)
	if err != nil {
		return err
	}
	body, err := encode(standingsBody(&closed.Settings, periodBody(closed.Period, closed.Begins, closed.Ends, true), rows, name.manager))
	if err != nil {
		return err
	}
	kept := forAYear
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
	write(c, http.StatusOK, body)
	return nil
}

func (a *api) listPeriods(c *gin.Context) error {
	var number int64
	var kind period.Kind
	g, err := a.readableEntry(c, func(values url.Values) (err error) {
		if number, err = pageNumber(values); err == nil {
			kind, err = queryKind(values)
		}
		return err
	})
	if err != nil {
		return err
	}
	found, err := a.deps.Periods.Periods(c.Request.Context(), g, kind, number)
	if err != nil {
		return err
	}
	body := periodsJSON{Periods: make([]listedJSON, len(found))}
	for i := range found {
		body.Periods[i] = listedBody(&found[i])
	}
	setPrivate(c)
	writeJSON(c, http.StatusOK, body)
	return nil
}

// queryKind reads a kind of periods; empty when there is none.
func queryKind(values url.Values) (period.Kind, error) {
	kind := period.Kind(values.Get("kind"))
	if values.Has("kind") && !slices.Contains(period.Kinds, kind) {
		return "", fault.New(fault.Invalid, "The query parameter kind must be day, week, month or season, or left out.")
	}
	return kind, nil
}

func (a *api) getActivity(c *gin.Context) error {
	var days int
	g, err := a.readableEntry(c, func(values url.Values) (err error) {
		days, err = queryDays(values)
		return err
	})
	if err != nil {
		return err
	}
	found, err := a.deps.Periods.Activity(c.Request.Context(), g, days)
	if err != nil {
		return err
	}
	body := activityJSON{Days: make([]activeDay, len(found))}
	for i, d := range found {
		body.Days[i] = activeDay{d.Day.String(), d.Gained, d.Members}
	}
	setPrivate(c)
	writeJSON(c, http.StatusOK, body)
	return nil
}

func (a *api) getHistory(c *gin.Context) error {
	var days int
	g, user, err := a.permittedMember(c, func(values url.Values) (err error) {
		days, err = queryDays(values)
		return err
	})
	if err != nil {
		return err
	}
	found, err := a.deps.Periods.History(c.Request.Context(), g, user, days)
	if err != nil {
		return err
	}
	body := historyJSON{Days: make([]gainDay, len(found))}
	for i, d := range found {
		body.Days[i] = gainDay{d.Day.String(), d.Gained}
	}
	setPrivate(c)
	writeJSON(c, http.StatusOK, body)
	return nil
}

// queryDays reads how many days are asked for, today included.
func queryDays(values url.Values) (int, error) {
	days, err := queryInt(values, "days", 1, periods.MaxHistory)
	return int(days), err
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
