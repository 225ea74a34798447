package httpapi

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/http/edge"
	"levelboard/internal/http/endless"
	"levelboard/internal/platform/logs"
	"levelboard/internal/usecase/events"
)

const (
	// reconnectAfter is how long clients are asked to wait before they reconnect.
	reconnectAfter = 2 * time.Second
	// recheckAfter is how long a stream may be silent before its permission
	// is checked again. A guild whose members were replaced has another log.
	recheckAfter = time.Second
)

// followEvents streams the events of a guild until the client disconnects, is too slow, or loses its
// permission, or until the service stops. It checks the permission before each event, and each second.
func (a *api) followEvents(r *request) error {
	r.guild()
	after, err := lastEventID(r.c.Request.Header)
	r.keep(err)
	g := r.enabled()
	if r.err != nil {
		return r.err
	}
	c := r.c
	h := c.Writer.Header()
	if r.c.Request.Method == http.MethodHead {
		setStreamHeaders(h)
		c.Status(http.StatusOK)
		return nil
	}
	place, err := a.takeStream(c)
	if err != nil {
		return err
	}
	defer place.Release()
	follower, err := a.deps.Events.Follow(r.ctx, g, after)
	if err != nil {
		return err
	}
	setStreamHeaders(h)
	c.Status(http.StatusOK)
	s, end := endless.Begin(c, a.deps.Events.Closed())
	defer end()
	for {
		err := a.sendEvents(c, s, g, follower)
		if errors.Is(err, events.ErrSlow) || errors.Is(err, os.ErrDeadlineExceeded) {
			streamsDropped.Inc()
		}
		if !errors.Is(err, errReplaced) {
			return nil
		}
		if g, follower, err = a.followReplaced(s.Context(), g.ID, follower.At()); err != nil {
			return nil
		}
	}
}

// followReplaced continues a stream in the log of the members who replaced the others, which begins with the reset.
func (a *api) followReplaced(ctx context.Context, g id.Guild, after events.ID) (*guild.Guild, *events.Follower, error) {
	ctx, cancel := context.WithTimeout(ctx, edge.RequestTime)
	defer cancel()
	now, err := a.findGuild(ctx, g, "")
	if err != nil {
		return nil, nil, err
	}
	follower, err := a.deps.Events.Follow(ctx, now, &after)
	return now, follower, err
}

func setStreamHeaders(h http.Header) {
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Origin, "+keyHeader)
	h.Set("X-Accel-Buffering", "no") // or nginx would hold events back until there are many
}

// lastEventID reads the header. It returns nil if the header is absent or empty.
func lastEventID(h http.Header) (*events.ID, error) {
	text, _, err := header(h, "Last-Event-ID", "id")
	if text == "" {
		return nil, err
	}
	parsed, err := events.ParseID(text)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The header Last-Event-ID %s.", err)
	}
	return &parsed, nil
}

// stillFollowable checks for an open stream that its key may follow the guild, with these members. The request's own context has ended by then.
func (a *api) stillFollowable(c *gin.Context, g *guild.Guild) (*guild.Guild, error) {
	s := stateOf(c)
	ctx, cancel := context.WithTimeout(logs.With(s.Connection, logs.Attrs(c.Request.Context())...), edge.RequestTime)
	defer cancel()
	key, err := a.deps.Keys.Recheck(ctx, c.GetHeader(keyHeader))
	if err != nil {
		return nil, errors.Join(errNoKey, err)
	}
	s.Caller = edge.Caller{Key: key}
	now, err := a.findGuild(ctx, g.ID, "")
	if err != nil {
		return nil, err
	}
	if err := permit(c, now.ID); err != nil {
		return nil, err
	}
	if now.Incarnation != g.Incarnation {
		return nil, errReplaced
	}
	return now, nil
}

var (
	errNoKey    = errors.New("the key is not valid any more")
	errReplaced = errors.New("the guild's members were replaced")
)

// sendEvents sends what a follower gets, and then leaves it.
func (a *api) sendEvents(c *gin.Context, s *endless.Stream, g *guild.Guild, follower *events.Follower) error {
	defer follower.Leave()
	// An id without an event lets a client that loses its connection before the first event continue from the stream's start.
	text := []byte("retry: " + strconv.FormatInt(reconnectAfter.Milliseconds(), 10) + "\n")
	if follower.Missed() {
		text = appendReset(text, follower.At())
		eventsSent.Inc()
	} else {
		text = append(text, "id: "+follower.At().String()+"\n\n"...)
	}
	if err := s.Write(text); err != nil {
		return err
	}
	silentUntil := time.Now().Add(a.deps.KeepAlive)
	for {
		until := time.Now().Add(recheckAfter)
		if silentUntil.Before(until) {
			until = silentUntil
		}
		entries, err := follower.Next(s.Context(), until)
		if err != nil {
			return err
		}
		for more := true; more; more = len(entries) > 0 {
			if g, err = a.stillFollowable(c, g); err != nil {
				return err
			}
			var sent int
			if sent, entries, err = a.sendSome(c, s, g, entries); err != nil {
				return err
			}
			if sent == 0 && !time.Now().Before(silentUntil) {
				sent, err = 1, s.Write([]byte(": still here\n\n"))
			}
			if err != nil {
				return err
			}
			if sent > 0 {
				silentUntil = time.Now().Add(a.deps.KeepAlive)
			}
		}
	}
}

// sendSome waits until the caller may be sent streamBytes, then encodes and sends that
// much of the entries. It returns how many of them were events, and the other entries.
func (a *api) sendSome(c *gin.Context, s *endless.Stream, g *guild.Guild, entries []events.Entry) (sent int, rest []events.Entry, err error) {
	if len(entries) == 0 {
		return 0, nil, nil
	}
	held, err := a.answers.WaitN(s.Context(), edge.Holder(c), streamBytes)
	if err != nil {
		return 0, nil, err
	}
	defer held.Release()
	text, sent, rest, err := a.encodeInTurn(s.Context(), entries, g)
	if err == nil && sent > 0 {
		err = s.Write(text)
		eventsSent.Add(float64(sent))
	}
	return sent, rest, err
}

// encodeInTurn lets one stream encode at a time: replaying all events to many streams would take all processors.
func (a *api) encodeInTurn(ctx context.Context, entries []events.Entry, g *guild.Guild) (text []byte, n int, rest []events.Entry, err error) {
	if err := a.encoding.Acquire(ctx, 1); err != nil {
		return nil, 0, nil, err
	}
	defer a.encoding.Release(1)
	return encodeEvents(entries, g)
}

// encodeEvents encodes the first of the entries, about streamBytes, and returns the others as
// rest. It skips an entry that is no event by the guild's settings. n is the number of events.
func encodeEvents(entries []events.Entry, g *guild.Guild) (text []byte, n int, rest []events.Entry, err error) {
	for i, entry := range entries {
		if len(text) >= streamBytes {
			return text, n, entries[i:], nil
		}
		name, data, err := entry.Encode(g)
		if err != nil {
			return nil, 0, nil, err
		}
		if name != "" {
			text = appendEvent(text, entry.ID, name, string(data))
			n++
		}
	}
	return text, n, nil, nil
}

func appendReset(text []byte, at events.ID) []byte {
	return appendEvent(text, at, "reset", string(events.ResetData(events.Lost)))
}

func appendEvent(text []byte, at events.ID, name, data string) []byte {
	return append(text, "id: "+at.String()+"\nevent: "+name+"\ndata: "+data+"\n\n"...)
}
