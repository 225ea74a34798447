package discord

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// The operations of the gateway that bots use.
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

// The codes with which the gateway closes a connection.
const (
	closeAuthentication = 4004
	closeIntents        = 4014
)

// intentMembers is the privileged intent of the bot; intentContent the one that it must not ask for.
const (
	intentMembers = 1 << 1
	intentContent = 1 << 15
)

// session is a bot's session, with all its events, which a connection that resumes gets again.
type session struct {
	mu     sync.Mutex
	id     string
	conn   *websocket.Conn // nil while it is cut
	events []object
}

// dispatch sends an event, now or when the session is resumed.
func (g *session) dispatch(event string, data any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	packet := object{"op": opDispatch, "t": event, "s": len(g.events) + 1, "d": data}
	g.events = append(g.events, packet)
	if g.conn != nil {
		_ = g.conn.WriteJSON(packet)
	}
}

func send(mu *sync.Mutex, conn *websocket.Conn, op int, data any) {
	mu.Lock()
	defer mu.Unlock()
	_ = conn.WriteJSON(object{"op": op, "d": data, "s": nil, "t": nil})
}

func (s *Server) gatewayURL() string { return "ws" + strings.TrimPrefix(s.URL, "http") + "/gateway" }

// connected are the sessions with a connection. s.mu is held.
func (s *Server) connected() (list []*session) {
	for _, g := range s.sessions {
		g.mu.Lock()
		if g.conn != nil {
			list = append(list, g)
		}
		g.mu.Unlock()
	}
	return list
}

// gateway serves a connection until the bot ends it.
func (s *Server) gateway(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	g := &session{}
	send(&g.mu, conn, opHello, object{"heartbeat_interval": 1000})
	for {
		var packet struct {
			Op int
			D  json.RawMessage
		}
		if conn.ReadJSON(&packet) != nil {
			g.mu.Lock()
			if g.conn == conn {
				g.conn = nil
			}
			g.mu.Unlock()
			s.change(func() {})
			return
		}
		switch packet.Op {
		case opHeartbeat:
			send(&g.mu, conn, opHeartbeatACK, nil)
		case opIdentify:
			if !s.identify(g, conn, packet.D) {
				return
			}
		case opResume:
			g = s.resume(g, conn, packet.D)
		}
	}
}

func closeWith(conn *websocket.Conn, code int) bool {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "a code of the test"), time.Now().Add(time.Second))
	return false
}

func (s *Server) identify(g *session, conn *websocket.Conn, data json.RawMessage) bool {
	var said struct {
		Token   string
		Intents int
	}
	_ = json.Unmarshal(data, &said)
	s.mu.Lock()
	defer s.mu.Unlock()
	if said.Token != Token {
		return closeWith(conn, closeAuthentication)
	}
	if said.Intents&intentMembers != 0 && s.intents || said.Intents&intentContent != 0 {
		return closeWith(conn, closeIntents)
	}
	g.mu.Lock()
	g.id, g.conn = s.id(), conn
	g.mu.Unlock()
	s.sessions[g.id] = g
	unavailable := []any{}
	for id, guild := range s.guilds {
		if !guild.absent {
			unavailable = append(unavailable, object{"id": id, "unavailable": true})
		}
	}
	g.dispatch("READY", object{
		"v": 10, "user": user(BotID), "guilds": unavailable, "session_id": g.id, "resume_gateway_url": s.gatewayURL() + "/resume",
		"shard": []int{0, 1}, "application": object{"id": BotID, "flags": 0},
	})
	for _, guild := range s.guilds {
		if !guild.absent {
			g.dispatch("GUILD_CREATE", guild.json())
		}
	}
	close(s.changed)
	s.changed = make(chan struct{})
	return true
}

// resume replays what the bot has not had, if the session is there.
func (s *Server) resume(fresh *session, conn *websocket.Conn, data json.RawMessage) *session {
	var said struct {
		SessionID string `json:"session_id"`
		Seq       int
	}
	_ = json.Unmarshal(data, &said)
	s.mu.Lock()
	g := s.sessions[said.SessionID]
	s.mu.Unlock()
	if g == nil {
		send(&fresh.mu, conn, opInvalidSession, false)
		return fresh
	}
	g.mu.Lock()
	for _, packet := range g.events[min(said.Seq, len(g.events)):] {
		_ = conn.WriteJSON(packet)
	}
	g.conn = conn
	g.mu.Unlock()
	g.dispatch("RESUMED", object{})
	s.change(func() {})
	return g
}

// dispatch sends an event to all sessions, also those that are cut. s.mu is held.
func (s *Server) dispatch(event string, data any) {
	for _, g := range s.sessions {
		g.dispatch(event, data)
	}
}

// Cut ends the connections; the sessions can be resumed.
func (s *Server) Cut() { s.end(false) }

// LoseSessions ends the connections and forgets the sessions, then makes a change of which the bot is not told.
func (s *Server) LoseSessions(meanwhile func()) {
	s.end(true)
	if meanwhile != nil {
		s.change(meanwhile)
	}
}

func (s *Server) end(forget bool) {
	s.change(func() {
		for id, g := range s.sessions {
			g.mu.Lock()
			if g.conn != nil {
				_ = g.conn.Close()
				g.conn = nil
			}
			g.mu.Unlock()
			if forget {
				delete(s.sessions, id)
			}
		}
	})
}

// Connected reports whether a bot is connected. It is for Wait.
func (s *Server) Connected() bool { return len(s.connected()) > 0 }
