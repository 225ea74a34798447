package web

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/period"
	"levelboard/internal/http/edge"
	"levelboard/internal/http/endless"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
	"levelboard/internal/usecase/watch"
)

const (
	// recheckTime bounds how long it may take to find out whether somebody who watches still may.
	recheckTime = 5 * time.Second
	// defaultKeepAlive is after how long a silent stream gets a sign of life, and who watches it is looked at again. leaderboard.js waits for two.
	defaultKeepAlive = 5 * time.Second
	// rowsFormat is part of the ETag of rows; raise it when the same members are rendered differently.
	rowsFormat = "r5"
	// watchersOfAddress bounds the streams of one address, enough for a class; a browser beyond it polls the rows (leaderboard.js).
	watchersOfAddress = 20
	stillHere         = "event: here\ndata:1\n\n"
)

// rowsBody is a page's rows for leaderboard.js.
type rowsBody struct {
	Page   int64    `json:"page"`
	Last   int64    `json:"last"`
	Total  int64    `json:"total"`
	Order  []string `json:"order"`           // ids of the elements, from the first rank of the page on
	Rows   []string `json:"rows"`            // elements that are new or changed
	Period string   `json:"period,omitzero"` // id of the period; none is all time
	Gained int64    `json:"gained,omitzero"` // by all members, in the period
	Closed bool     `json:"closed,omitzero"` // the period has closed, and nothing changes any more
}

// encodeRows leaves out the rows that are in sent as they are, and notes the others there.
func (s *Site) encodeRows(g *guild.Guild, v *boardView, sent map[id.User]string) ([]byte, error) {
	rows, err := s.renderRows(g, v)
	if err != nil {
		return nil, err
	}
	body := rowsBody{Page: v.number, Last: leaderboard.LastPage(v.total), Total: v.total, Order: make([]string, len(rows)), Rows: []string{}, Gained: v.gained, Closed: v.over}
	if v.period != nil {
		body.Period = v.period.ID
	}
	present := make(map[id.User]bool, len(rows))
	for i, row := range rows {
		body.Order[i], present[row.user] = "m"+string(row.user), true
		if sent[row.user] != row.html {
			sent[row.user] = row.html
			body.Rows = append(body.Rows, row.html)
		}
	}
	for user := range sent {
		if !present[user] {
			delete(sent, user)
		}
	}
	return json.Marshal(body)
}

// rows answers with a page's rows, for browsers that cannot watch it. Without a change the answer is a 304 that reads no row.
func (s *Site) rows(c *gin.Context, g *guild.Guild) error {
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	ask := boardAsk{period: c.Query("period"), number: number}
	var of period.Period
	var closed *periods.Closed
	if ask.period != "" {
		if of, closed, err = s.findPeriod(c.Request.Context(), g, ask.period); err != nil {
			return err
		}
		if of.ID != ask.period {
			return toPeriod(c, of)
		}
	}
	if closed == nil {
		version, err := s.deps.Board.Version(c.Request.Context(), g)
		if err != nil || tagged(c, rowsTag(g, of.ID, number, version)) {
			return err
		}
	}
	v, err := s.readBoard(c.Request.Context(), g, ask)
	if err != nil {
		return err
	}
	body, err := s.encodeRows(g, &v, map[id.User]string{})
	if err != nil {
		return err
	}
	tag := rowsTag(g, of.ID, number, v.version)
	if v.over {
		tag = edge.BodyETag(body) // it has no version, and an erasure changes it
	}
	if !tagged(c, tag) {
		s.send(c, http.StatusOK, jsonType, body)
	}
	return nil
}

// toPeriod leads from the kind of a period to the id of the one that runs: what is read again and again must not become another period.
func toPeriod(c *gin.Context, p period.Period) error {
	query := c.Request.URL.Query()
	query.Set("period", p.ID)
	c.Redirect(http.StatusTemporaryRedirect, c.Request.URL.Path+"?"+query.Encode())
	return nil
}

const jsonType = "application/json; charset=utf-8"

func rowsTag(g *guild.Guild, running string, number int64, v leaderboard.Version) string {
	return edge.ETag(rowsFormat+running, int64(g.Incarnation), g.Version, number, v.Epoch, v.Rev)
}

// watchRows streams a page's rows as they change, until the browser leaves, the service stops, or the board may not be read any more,
// which it checks before each push and at every sign of life.
func (s *Site) watchRows(c *gin.Context, g *guild.Guild) error {
	number, err := pageNumber(c.Query("page"))
	if err != nil {
		return err
	}
	var of period.Period
	if name := c.Query("period"); name != "" {
		var closed *periods.Closed
		switch of, closed, err = s.findPeriod(c.Request.Context(), g, name); {
		case err != nil:
			return err
		case of.ID != name:
			return toPeriod(c, of)
		case closed != nil:
			return fault.New(fault.NotFound, "This period has closed. Read its rows.")
		}
	}
	place, err := s.watchers.Take(ratelimit.ClientName(c.ClientIP())) // the feed bounds them all
	if err != nil {
		return &fault.Error{
			Code: fault.RateLimited, RetryAfter: endless.RetryAfter,
			Message: "Too many pages are watched from your address at the moment. Read the page again from time to time instead.",
		}
	}
	defer place.Release()
	if number, err = s.onBoard(c.Request.Context(), g, of, number); err != nil {
		return err
	}
	watcher, err := s.deps.Watch.Watch(g, of, number)
	if err != nil {
		return err
	}
	defer watcher.Leave()
	c.Header("Content-Type", "text/event-stream")
	c.Header("X-Accel-Buffering", "no") // or nginx would keep rows back until there are many
	c.Status(http.StatusOK)
	stream, end := endless.Begin(c, watcher.Gone())
	defer end()
	why := s.pushRows(c, g, of, stream, watcher)
	s.log.DebugContext(c.Request.Context(), "a stream of rows ended", "guild", g.ID, "reason", why)
	return nil
}

// onBoard is the page that is shown for this number: past the last, the last. The feed watches a bounded number of pages of a guild.
func (s *Site) onBoard(ctx context.Context, g *guild.Guild, of period.Period, number int64) (int64, error) {
	if number == 1 {
		return number, nil
	}
	if of.ID != "" {
		v, err := s.readRunning(ctx, g, of, boardAsk{number: number})
		return v.number, err
	}
	v, err := s.deps.Board.View(ctx, g, leaderboard.Look{})
	if err != nil {
		return 0, err
	}
	return min(number, leaderboard.LastPage(v.Total)), nil
}

// pushRows returns why the stream ended.
func (s *Site) pushRows(c *gin.Context, g *guild.Guild, of period.Period, stream *endless.Stream, watcher *watch.Watcher) error {
	if err := stream.Write([]byte(stillHere)); err != nil { // the browser learns that it may watch; when to come back is its own affair
		return err
	}
	sent := map[id.User]string{}
	var newest watch.State
	for {
		state, err := s.nextRows(stream.Context(), watcher)
		silent := errors.Is(err, context.DeadlineExceeded) && stream.Context().Err() == nil
		if err != nil && !silent {
			return err
		}
		if !silent {
			newest = state
		}
		now, err := s.stillReadable(c, stream.Context(), g, of)
		if err != nil {
			return err
		}
		otherSettings := now.Version != g.Version && newest.Number > 0 // another curve makes other levels of the same XP
		g = now
		push := []byte(stillHere)
		if !silent || otherSettings {
			v := watchedView(g, of, newest)
			body, err := s.encodeRows(g, &v, sent)
			if err != nil {
				return err
			}
			push = append(append([]byte("event: rows\ndata: "), body...), "\n\n"...)
		}
		if err := stream.Write(push); err != nil {
			return err
		}
	}
}

func watchedView(g *guild.Guild, of period.Period, state watch.State) boardView {
	v := boardView{settings: &g.Settings, version: state.Version, number: state.Number, total: state.Total, gained: state.Gained, rows: state.Rows}
	if of.ID != "" {
		v.period = &of
	}
	return v
}

// nextRows waits for a change until it is time for a sign of life.
func (s *Site) nextRows(ctx context.Context, watcher *watch.Watcher) (watch.State, error) {
	ctx, cancel := context.WithTimeout(ctx, s.deps.KeepAlive)
	defer cancel()
	return watcher.Next(ctx)
}

var errNoLonger = errors.New("the guild is another one, its board may not be read any more, or the period has ended")

// stillReadable returns the guild as it is now. The session may have ended since, or the guild, or the period, or its board be private.
func (s *Site) stillReadable(c *gin.Context, stream context.Context, g *guild.Guild, of period.Period) (*guild.Guild, error) {
	ctx, cancel := context.WithTimeout(stream, recheckTime)
	defer cancel()
	session, err := s.session(ctx, c)
	if err != nil {
		return nil, err
	}
	edge.Of(c).Caller.Session = session
	now, err := s.deps.Guilds.ByID(ctx, g.ID)
	if err != nil {
		return nil, err
	}
	if now.Incarnation != g.Incarnation || !now.Enabled || mayRead(c, now) != nil {
		return nil, errNoLonger
	}
	if of.ID != "" {
		if _, closed, err := s.findPeriod(ctx, now, of.ID); err != nil || closed != nil {
			return nil, errNoLonger
		}
	}
	return now, nil
}
