package discord

import (
	"encoding/json"
	"net/http"
	"strconv"
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
	opRequestMembers = 8
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatACK   = 11
)

// The codes with which the gateway closes a connection.
const (
	closeAuthentication = 4004
	closeIntents        = 4014
)

// intentContent is the intent that the bot must not ask for.
const intentContent = 1 << 15

// session is a bot's session, with all its events, which a connection that resumes gets again.
type session struct {
	shard, shards int64 // it has the guilds of one of so many

	mu      sync.Mutex
	id      string
	conn    *websocket.Conn // nil while it is cut
	events  []object
	members map[string]bool // guilds whose members it has
}

// serves reports whether a guild's events are for the session.
func (g *session) serves(guildID string) bool {
	id, _ := strconv.ParseInt(guildID, 10, 64)
	return (id>>22)%g.shards == g.shard
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

// The paths of the gateway. A session can be resumed only at the one that the bot was told, until Move.
const (
	gatewayPath = "/gateway"
	resumePath  = "/gateway/resume"
)

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
	resumes := resumePath
	s.change(func() {
		if s.moved {
			resumes = gatewayPath
		}
	})
	if r.URL.Path == resumePath && resumes != resumePath {
		http.NotFound(w, r)
		return
	}
	upgrader := websocket.Upgrader{}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	g := &session{}
	send(&g.mu, conn, opHello, object{"heartbeat_interval": 5000})
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
			if r.URL.Path == resumes {
				g = s.resume(g, conn, packet.D)
			} else {
				send(&g.mu, conn, opInvalidSession, false)
			}
		case opRequestMembers:
			s.sendMembers(g, packet.D)
		}
	}
}

func closeWith(conn *websocket.Conn, code int) bool {
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "a code of the test"), time.Now().Add(time.Second))
	return false
}

func (s *Server) identify(g *session, conn *websocket.Conn, data json.RawMessage) bool {
	said := struct {
		Token   string
		Intents int
		Shard   [2]int64
	}{Shard: [2]int64{0, 1}}
	_ = json.Unmarshal(data, &said)
	s.mu.Lock()
	defer s.mu.Unlock()
	if said.Token != Token {
		return closeWith(conn, closeAuthentication)
	}
	if said.Intents&intentContent != 0 {
		return closeWith(conn, closeIntents)
	}
	if s.refusal != 0 {
		return closeWith(conn, s.refusal)
	}
	g.mu.Lock()
	g.id, g.conn, g.shard, g.shards, g.members = s.id(), conn, said.Shard[0], said.Shard[1], map[string]bool{}
	g.mu.Unlock()
	s.sessions[g.id] = g
	s.begun++
	unavailable := []any{}
	for id, guild := range s.guilds {
		if !guild.absent && g.serves(id) {
			unavailable = append(unavailable, object{"id": id, "unavailable": true})
		}
	}
	g.dispatch("READY", object{
		"v": 10, "user": user(BotID), "guilds": unavailable, "session_id": g.id, "resume_gateway_url": "ws" + strings.TrimPrefix(s.URL, "http") + resumePath,
		"shard": said.Shard, "application": object{"id": BotID, "flags": 0},
	})
	for id, guild := range s.guilds {
		if !guild.absent && g.serves(id) {
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

// sendMembers sends all members of a guild, once: Discord does it every 30 seconds at most.
func (s *Server) sendMembers(g *session, request json.RawMessage) {
	var asked struct {
		GuildID string `json:"guild_id"`
		Nonce   string
	}
	_ = json.Unmarshal(request, &asked)
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.members[asked.GuildID] {
		g.dispatch("RATE_LIMITED", object{
			"opcode": opRequestMembers, "retry_after": 30, "meta": object{"guild_id": asked.GuildID, "nonce": asked.Nonce},
		})
		return
	}
	g.members[asked.GuildID] = true
	guild := s.guilds[asked.GuildID]
	all := []any{member(guild, BotID)}
	for id := range guild.Members {
		all = append(all, member(guild, id))
	}
	g.dispatch("GUILD_MEMBERS_CHUNK", object{
		"guild_id": asked.GuildID, "members": all, "chunk_index": 0, "chunk_count": 1, "not_found": []any{}, "nonce": asked.Nonce,
	})
}

// dispatch sends an event of a guild to its sessions, also those that are cut. s.mu is held.
func (s *Server) dispatch(guildID, event string, data any) {
	for _, g := range s.sessions {
		if g.serves(guildID) {
			g.dispatch(event, data)
		}
	}
}

// Cut ends the connections; the sessions can be resumed.
func (s *Server) Cut() { s.end(false) }

// Move takes the address for resuming away; sessions can be resumed at the first one.
func (s *Server) Move() { s.change(func() { s.moved = true }) }

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

// Connected reports whether a bot is connected with all its shards. It is for Wait.
func (s *Server) Connected() bool { return len(s.connected()) >= s.shards }

// Alone reports whether no bot is connected. It is for Wait.
func (s *Server) Alone() bool { return len(s.connected()) == 0 }

// Shard asks the bots that come for several shards.
func (s *Server) Shard(shards int) { s.change(func() { s.shards = shards }) }

// Begun returns how many sessions were begun.
func (s *Server) Begun() (begun int) {
	s.change(func() { begun = s.begun })
	return begun
}
