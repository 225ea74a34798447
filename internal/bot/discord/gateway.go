package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
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
	opHeartbeatACK   = 11
)

// refusals are the codes with which the gateway refuses the bot for good.
var refusals = map[int]error{4004: errToken, 4010: errShards, 4011: errShards, 4013: errIntent, 4014: errIntent}

const (
	intents       = 1<<0 | 1<<1 | 1<<9 // what Discord sends: guilds, members, and messages without their content
	itsOwn        = 4000               // the first of the codes that are Discord's own, not the connection's
	identifyTicks = 5                  // between two new sessions
	writeTime     = 10 * time.Second
)

// shard is one connection to the gateway. It resumes its session where it was cut. An event that cannot be read is left out.
type shard struct {
	c         *Client
	id, count int
	up        atomic.Bool // the session is there, and all that was missed has come

	address, session string // for resuming
	sequence         atomic.Int64
}

type packet struct {
	Op int
	D  json.RawMessage
	S  int64
	T  string
}

// run connects until ctx ends, or Discord refuses the bot for good. At the end of ctx it reads what Discord has sent, and at that of life it stops.
func (s *shard) run(ctx, life context.Context) error {
	for ctx.Err() == nil {
		if err := s.c.insist(ctx, "the bot is not connected to Discord", func() error { return s.connect(ctx, life) }); err != nil {
			return err
		}
		pause.For(ctx, s.c.Tick)
	}
	return nil
}

// connect serves one connection. It returns no error if the session was there, and can be resumed at once.
func (s *shard) connect(ctx, life context.Context) error {
	if s.session == "" {
		s.address = s.c.gateway
		s.sequence.Store(0)
		select {
		case <-ctx.Done():
			return nil
		case s.c.identifying <- struct{}{}:
			time.AfterFunc(identifyTicks*s.c.Tick, func() { <-s.c.identifying })
		}
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: answerTime}
	conn, _, err := dialer.DialContext(ctx, s.address+"?v=10&encoding=json", nil)
	if err != nil {
		s.address = s.c.gateway // the one for resuming may be gone
		return err
	}
	err = s.serve(ctx, life, conn)
	wasUp := s.up.Swap(false)
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok && closed.Code >= itsOwn && !wasUp {
		s.session, err = "", cmp.Or(refusals[closed.Code], err)
	}
	if wasUp && ctx.Err() == nil { // to resume is always allowed
		s.c.Log.Info("the connection to Discord has ended; the bot connects again", "shard", s.id, "error", err)
		return nil
	}
	return err
}

// serve serves a connection until it breaks.
func (s *shard) serve(ctx, life context.Context, conn *websocket.Conn) error {
	life, cancel := context.WithCancel(life)
	defer cancel()
	defer context.AfterFunc(life, func() {
		_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
		_ = conn.Close()
	})()
	defer conn.Close()
	var hello struct {
		D struct {
			Interval int `json:"heartbeat_interval"`
		}
	}
	if err := errors.Join(conn.SetReadDeadline(time.Now().Add(answerTime)), conn.ReadJSON(&hello)); err != nil {
		return err
	}
	if hello.D.Interval <= 0 {
		return errors.New("the gateway said no hello")
	}
	interval := time.Duration(hello.D.Interval) * time.Millisecond
	if err := s.greet(conn); err != nil {
		return err
	}
	var unanswered atomic.Int64 // heartbeats
	var stops atomic.Bool
	asked := make(chan struct{}, 1)
	go func() { // the only one that writes from now on
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for stopping := ctx.Done(); ; {
			select {
			case <-life.Done():
				return
			case <-stopping:
				stopping = nil
			case <-asked:
			case <-ticker.C:
			}
			unanswered.Add(1)
			stops.Store(stopping == nil)
			if write(conn, opHeartbeat, s.sequence.Load()) != nil {
				return
			}
		}
	}()
	for {
		var p packet
		if err := errors.Join(conn.SetReadDeadline(time.Now().Add(2*interval)), conn.ReadJSON(&p)); err != nil { // each heartbeat is answered
			return err
		}
		switch p.Op {
		case opHeartbeat:
			select {
			case asked <- struct{}{}:
			default:
			}
		case opHeartbeatACK:
			if unanswered.Add(-1) <= 0 && stops.Load() { // Discord keeps the order, so all that it sent before is read
				return nil
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
	}
}

// greet resumes the session, or begins a new one.
func (s *shard) greet(conn *websocket.Conn) error {
	if s.session != "" {
		return write(conn, opResume, object{"token": s.c.Token, "session_id": s.session, "seq": s.sequence.Load()})
	}
	return write(conn, opIdentify, object{
		"token": s.c.Token, "intents": intents, "shard": []int{s.id, s.count}, "large_threshold": 50,
		"properties": object{"os": runtime.GOOS, "browser": "levelboard-bot", "device": "levelboard-bot"},
	})
}

func write(conn *websocket.Conn, op int, data any) error {
	return errors.Join(conn.SetWriteDeadline(time.Now().Add(writeTime)), conn.WriteJSON(object{"op": op, "d": data}))
}

func (s *shard) dispatch(p packet) {
	switch p.T {
	case "READY":
		var ready struct {
			SessionID string `json:"session_id"`
			ResumeURL string `json:"resume_gateway_url"`
		}
		if err := json.Unmarshal(p.D, &ready); err != nil {
			s.c.Log.Error("Discord's READY cannot be read", "error", err)
		}
		s.session, s.address = ready.SessionID, cmp.Or(ready.ResumeURL, s.c.gateway)
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
