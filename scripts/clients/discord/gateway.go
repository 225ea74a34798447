package discord

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// gateway is a bot's connection. mu guards its writes.
type gateway struct {
	mu          sync.Mutex
	conn        *websocket.Conn
	sequence    int
	sentMembers bool
}

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

func (g *gateway) send(op int, event string, data any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	packet := map[string]any{"op": op, "d": data, "s": nil, "t": nil}
	if op == opDispatch {
		g.sequence++
		packet["s"], packet["t"] = g.sequence, event
	}
	_ = g.conn.WriteJSON(packet)
}

// gateway serves a connection until the bot ends it.
func (s *Server) gateway(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	g := &gateway{conn: conn}
	g.send(opHello, "", map[string]any{"heartbeat_interval": 20000})
	for {
		var packet struct {
			Op int
			D  json.RawMessage
		}
		if conn.ReadJSON(&packet) != nil {
			s.change(func() { delete(s.gateways, g) })
			return
		}
		switch packet.Op {
		case opHeartbeat:
			g.send(opHeartbeatACK, "", nil)
		case opIdentify:
			s.identify(g)
		case opResume:
			g.send(opInvalidSession, "", false)
		case opRequestMembers:
			s.sendMembers(g, packet.D)
		}
	}
}

func (s *Server) identify(g *gateway) {
	g.send(opDispatch, "READY", map[string]any{
		"v": 10, "user": user(BotID), "guilds": []any{map[string]any{"id": GuildID, "unavailable": true}}, "session_id": "session",
		"resume_gateway_url": s.url, "shard": []int{0, 1}, "application": map[string]any{"id": BotID, "flags": 0},
	})
	s.change(func() {
		g.send(opDispatch, "GUILD_CREATE", s.withMembers())
		s.gateways[g] = true
	})
}

// withMembers is the guild as it is sent at first: with the bot, and not with all members. s.mu is held.
func (s *Server) withMembers() map[string]any {
	s.guild["members"], s.guild["member_count"] = []any{s.member(BotID)}, len(s.members)+1
	return s.guild
}

func (s *Server) sendMembers(g *gateway, request json.RawMessage) {
	var asked struct{ Nonce string }
	_ = json.Unmarshal(request, &asked)
	s.mu.Lock()
	defer s.mu.Unlock()
	if g.sentMembers { // Discord sends all of a guild every 30 seconds at most
		g.send(opDispatch, "RATE_LIMITED", map[string]any{
			"opcode": opRequestMembers, "retry_after": 30, "meta": map[string]any{"guild_id": GuildID, "nonce": asked.Nonce},
		})
		return
	}
	g.sentMembers = true
	all := []any{s.member(BotID)}
	for id := range s.members {
		all = append(all, s.member(id))
	}
	g.send(opDispatch, "GUILD_MEMBERS_CHUNK", map[string]any{
		"guild_id": GuildID, "members": all, "chunk_index": 0, "chunk_count": 1, "not_found": []any{}, "nonce": asked.Nonce,
	})
}

// dispatch sends an event to all bots. s.mu is held.
func (s *Server) dispatch(event string, data map[string]any) {
	for g := range s.gateways {
		g.send(opDispatch, event, data)
	}
}

var counter atomic.Int64

// snowflake returns a new id.
func snowflake() string {
	return strconv.FormatInt((time.Now().UnixMilli()-1420070400000)<<22+counter.Add(1)%4096, 10)
}
