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
	"levelboard/internal/platform/shares"
	"levelboard/internal/store/ratelimit"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/watch"
)

const (
	// recheckTime bounds the check whether a watching visitor still may.
	recheckTime = 5 * time.Second
	// defaultKeepAlive is how long a stream may be silent before it gets a
	// keep-alive and its visitor's rights are checked. leaderboard.js waits for two.
	defaultKeepAlive = 5 * time.Second
	// rowsFormat is part of the ETag of rows. Raise it when the same members are rendered differently.
	rowsFormat = "r5"
	// mostWatchers bounds the streams, and watchersOfAddress those of one address, which
	// is enough for a class of pupils. Further browsers poll the rows (leaderboard.js).
	mostWatchers, watchersOfAddress = 1000, 20
	stillHere                       = "event: here\ndata:1\n\n"
)

// rowsBody is a page's rows for leaderboard.js.
type rowsBody struct {
	Page   int64    `json:"page"`
	Last   int64    `json:"last"`
	Total  int64    `json:"total"`
	Order  []string `json:"order"`           // ids of the elements, by rank
	Rows   []string `json:"rows"`            // new or changed elements
	Period string   `json:"period,omitzero"` // id of the period; empty for all time
	Gained int64    `json:"gained,omitzero"` // by all members, in the period
	Closed bool     `json:"closed,omitzero"` // the period has closed, and nothing will change
}

// encodeRows skips the rows that sent has unchanged, and adds the others to sent.
func (s *Site) encodeRows(g *guild.Guild, v *boardView, sent map[id.User]string) ([]byte, error) {
	rows, err := s.renderRows(g, v)
	if err != nil {
		return nil, err
	}
	body := rowsBody{Page: v.Number, Last: leaderboard.LastPage(v.Total), Total: v.Total, Order: make([]string, len(rows)), Rows: []string{}, Gained: v.Gained, Closed: v.over}
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

// rowsAsk says which rows of a board a browser polls or watches.
type rowsAsk struct {
	period period.Period // zero for all time
	closed bool          // the period has closed
	number int64         // of the page
}

// rowsOf calls a handler with the rows in the address. It redirects from the kind of a period
// to the id of the running one, since what a browser polls must not become another period.
func (s *Site) rowsOf(h func(c *gin.Context, g *guild.Guild, ask rowsAsk) error) func(c *gin.Context, g *guild.Guild) error {
	return func(c *gin.Context, g *guild.Guild) error {
		number, err := pageNumber(c.Query("page"))
		if err != nil {
			return err
		}
		of, closed, err := s.findPeriod(c.Request.Context(), g, c.Query("period"))
		if err != nil {
			return err
		}
		if query := c.Request.URL.Query(); of.ID != query.Get("period") {
			query.Set("period", of.ID)
			c.Redirect(http.StatusTemporaryRedirect, c.Request.URL.Path+"?"+query.Encode())
			return nil
		}
		return h(c, g, rowsAsk{of, closed != nil, number})
	}
}

// rows answers with a page's rows, for browsers that do not watch it. If nothing changed, it answers 304 and reads no row.
func (s *Site) rows(c *gin.Context, g *guild.Guild, ask rowsAsk) error {
	if !ask.closed {
		version, err := s.deps.Board.Version(c.Request.Context(), g)
		if err != nil || tagged(c, rowsTag(g, ask, version)) {
			return err
		}
	}
	v, err := s.readBoard(c.Request.Context(), g, boardAsk{period: ask.period.ID, number: ask.number})
	if err != nil {
		return err
	}
	body, err := s.encodeRows(g, &v, map[id.User]string{})
	if err != nil {
		return err
	}
	tag := rowsTag(g, ask, v.Version)
	if v.over {
		tag = edge.BodyETag(body) // a closed period has no version, but an erasure changes it
	}
	if !tagged(c, tag) {
		s.send(c, http.StatusOK, jsonType, body)
	}
	return nil
}

const jsonType = "application/json; charset=utf-8"

func rowsTag(g *guild.Guild, ask rowsAsk, v leaderboard.Version) string {
	return edge.ETag(rowsFormat+ask.period.ID, int64(g.Incarnation), g.Version, ask.number, v.Epoch, v.Rev)
}

// watchRows streams a page's rows as they change. It ends when the browser disconnects, the service stops,
// or the visitor may not read the board any more, which it checks before each push and each keep-alive.
func (s *Site) watchRows(c *gin.Context, g *guild.Guild, ask rowsAsk) error {
	if ask.closed {
		return fault.New(fault.NotFound, "This period has closed. Read its rows.")
	}
	place, err := s.watchers.Take(ratelimit.ClientName(c.ClientIP()))
	if err != nil {
		refused := &fault.Error{
			Code: fault.Unavailable, RetryAfter: endless.RetryAfter,
			Message: "Too many people watch at the moment. Read the page again from time to time instead.",
		}
		if errors.Is(err, shares.ErrShare) {
			refused.Code = fault.RateLimited
			refused.Message = "Too many pages are watched from your address at the moment. Read the page again from time to time instead."
		}
		return refused
	}
	defer place.Release()
	watcher, err := s.deps.Watch.Watch(g, ask.period, ask.number)
	if err != nil {
		return err
	}
	defer watcher.Leave()
	c.Header("Content-Type", "text/event-stream")
	c.Header("X-Accel-Buffering", "no") // or nginx would hold rows back until there are many
	c.Status(http.StatusOK)
	stream, end := endless.Begin(c, s.deps.Watch.Closed())
	defer end()
	why := s.pushRows(c, g, ask.period, stream, watcher)
	s.log.DebugContext(c.Request.Context(), "a stream of rows ended", "guild", g.ID, "reason", why)
	return nil
}

// pushRows pushes rows until the stream ends. It returns the reason.
func (s *Site) pushRows(c *gin.Context, g *guild.Guild, of period.Period, stream *endless.Stream, watcher *watch.Watcher) error {
	if err := stream.Write([]byte(stillHere)); err != nil { // now the browser knows that it may watch; it reconnects at its own pace
		return err
	}
	v := boardView{}
	if of.ID != "" {
		v.period = &of
	}
	sent := map[id.User]string{}
	for {
		state, err := s.nextRows(stream.Context(), watcher)
		silent := errors.Is(err, context.DeadlineExceeded) && stream.Context().Err() == nil
		if err != nil && !silent {
			return err
		}
		if !silent {
			v.State = state
		}
		now, err := s.stillReadable(c, stream.Context(), g, of)
		if err != nil {
			return err
		}
		otherSettings := now.Version != g.Version && v.Number > 0 // another curve gives other levels for the same XP
		g, v.settings = now, &now.Settings
		push := []byte(stillHere)
		if !silent || otherSettings {
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

// nextRows waits for a change, or until a keep-alive is due.
func (s *Site) nextRows(ctx context.Context, watcher *watch.Watcher) (watch.State, error) {
	ctx, cancel := context.WithTimeout(ctx, s.deps.KeepAlive)
	defer cancel()
	return watcher.Next(ctx)
}

var errNoLonger = errors.New("the guild is another one, its board may not be read any more, or the period has ended")

// stillReadable returns the guild as it is now. It fails if the session, the guild or the period has ended, or if the board is private now.
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
	if _, closed, err := s.findPeriod(ctx, now, of.ID); err != nil || closed != nil {
		return nil, errNoLonger
	}
	return now, nil
}
