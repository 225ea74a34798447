package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"levelboard/internal/platform/pause"
)

// The operations of the gateway.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatACK   = 11
)

// refusals are the codes with which the gateway refuses the bot for good.
var refusals = map[int]error{4004: ErrToken, 4010: ErrShards, 4011: ErrShards, 4013: ErrIntent, 4014: ErrIntent}

// The codes with which it ends a session.
const (
	closedSequence = 4007
	closedTimedOut = 4009
)

// intents are what Discord sends: guilds, members and messages. The content of messages is not among them.
const intents = 1<<0 | 1<<1 | 1<<9

const (
	identifyTicks = 5                // between two new sessions
	longestPause  = 60 * time.Second // between two connections
	writeTime     = 10 * time.Second
)

// shard is one connection to the gateway. It resumes its session where it was cut. An event that cannot be read is left out.
type shard struct {
	c         *Client
	id, count int
	up        atomic.Bool // the session is there, and all that was missed has come

	address, session string // for resuming
	sequence         atomic.Int64

	unanswered atomic.Int64 // heartbeats
	leaving    atomic.Bool
	end        context.CancelFunc

	writing sync.Mutex
	conn    *websocket.Conn
}

type packet struct {
	Op int             `json:"op"`
	D  json.RawMessage `json:"d"`
	S  int64           `json:"s"`
	T  string          `json:"t"`
}

// run connects until ctx ends, or Discord refuses the bot for good.
func (s *shard) run(ctx context.Context) error {
	for wait := s.c.Tick; ; wait = min(2*wait, longestPause) {
		err := s.connect(ctx)
		wasUp := s.up.Swap(false)
		if ctx.Err() != nil || s.leaving.Load() {
			return nil
		}
		if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
			if refusal := refusals[closed.Code]; refusal != nil {
				return refusal
			}
			if closed.Code == closedSequence || closed.Code == closedTimedOut {
				s.session = ""
			}
		}
		if wasUp && s.session != "" { // to resume is always allowed
			wait = s.c.Tick
		}
		s.c.Log.Info("the connection to Discord has ended; the bot connects again", "shard", s.id, "error", err)
		pause.For(ctx, wait)
	}
}

// connect serves one connection.
func (s *shard) connect(ctx context.Context) error {
	if s.session == "" {
		s.address = s.c.gateway
		s.sequence.Store(0)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s.c.identifying <- struct{}{}:
			time.AfterFunc(identifyTicks*s.c.Tick, func() { <-s.c.identifying })
		}
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: answerTime}
	conn, _, err := dialer.DialContext(ctx, s.address+"?v=10&encoding=json", nil)
	if err != nil {
		s.session = "" // its address may be gone
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		_ = conn.Close()
	})()
	defer conn.Close()
	s.writing.Lock()
	s.conn = conn
	s.unanswered.Store(0)
	s.writing.Unlock()
	for silence := answerTime; ; {
		var p packet
		if err := errors.Join(conn.SetReadDeadline(time.Now().Add(silence)), conn.ReadJSON(&p)); err != nil {
			return err
		}
		switch p.Op {
		case opHello:
			var hello struct {
				Interval int `json:"heartbeat_interval"`
			}
			if err := json.Unmarshal(p.D, &hello); err != nil || hello.Interval <= 0 {
				return fmt.Errorf("the gateway's hello cannot be read: %w", err)
			}
			interval := time.Duration(hello.Interval) * time.Millisecond
			silence = 2 * interval // each heartbeat is answered
			go s.heartbeat(ctx, interval)
			err = s.greet()
		case opHeartbeat:
			err = s.beat()
		case opHeartbeatACK:
			if s.unanswered.Add(-1) <= 0 && s.leaving.Load() {
				return errors.New("the bot stops")
			}
		case opReconnect:
			return errors.New("asked for by Discord")
		case opInvalidSession:
			if string(p.D) != "true" { // it cannot be resumed
				s.session = ""
			}
			return errors.New("the session is not valid")
		case opDispatch:
			s.dispatch(p)
		}
		if err != nil {
			return err
		}
	}
}

func (s *shard) write(op int, data any) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.conn == nil {
		return errors.New("not connected")
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	return s.conn.WriteJSON(object{"op": op, "d": data})
}

// greet resumes the session, or begins a new one.
func (s *shard) greet() error {
	if s.session != "" {
		return s.write(opResume, object{"token": s.c.Token, "session_id": s.session, "seq": s.sequence.Load()})
	}
	return s.write(opIdentify, object{
		"token": s.c.Token, "intents": intents, "shard": []int{s.id, s.count}, "large_threshold": 50,
		"properties": object{"os": runtime.GOOS, "browser": "levelboard-bot", "device": "levelboard-bot"},
	})
}

// heartbeat shows that the bot is there.
func (s *shard) heartbeat(ctx context.Context, interval time.Duration) {
	for pause.For(ctx, interval) && s.beat() == nil {
	}
}

func (s *shard) beat() error {
	s.unanswered.Add(1)
	return s.write(opHeartbeat, s.sequence.Load())
}

// leave ends the connection once a heartbeat is answered: Discord keeps the order, so all that it sent before is read by then.
func (s *shard) leave() {
	s.leaving.Store(true)
	if s.beat() != nil {
		s.end()
	}
}

func (s *shard) dispatch(p packet) {
	switch p.T {
	case "READY":
		var ready struct {
			SessionID   string `json:"session_id"`
			ResumeURL   string `json:"resume_gateway_url"`
			Application struct{ ID string }
		}
		if err := json.Unmarshal(p.D, &ready); err != nil {
			s.c.Log.Error("Discord's READY cannot be read", "error", err)
		}
		s.session, s.address = ready.SessionID, cmp.Or(ready.ResumeURL, s.c.gateway)
		s.c.registering.Do(func() { s.c.working.Go(func() { s.c.register(ready.Application.ID) }) })
		s.up.Store(true)
	case "RESUMED":
		s.up.Store(true)
	default:
		if err := s.c.onEvent(p.T, p.D); err != nil {
			s.c.Log.Warn("an event of Discord cannot be read; it is left out", "event", p.T, "error", err)
		}
	}
	s.sequence.Store(p.S)
}
