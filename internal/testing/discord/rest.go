package discord

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(gatewayPath, s.gateway)
	mux.HandleFunc(resumePath, s.gateway)
	rest := http.NewServeMux()
	rest.HandleFunc("GET /api/v10/gateway/bot", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		answer(w, http.StatusOK, object{"url": "ws" + strings.TrimPrefix(s.URL, "http") + gatewayPath, "shards": s.shards, "session_start_limit": object{
			"total": 1000, "remaining": 1000, "reset_after": 1000, "max_concurrency": 1,
		}})
	})
	rest.HandleFunc("GET /api/v10/applications/@me", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, object{"id": BotID}) })
	rest.HandleFunc("PUT /api/v10/applications/{id}/commands", s.putCommands)
	rest.HandleFunc("GET /api/v10/guilds/{guild}", s.getGuild)
	rest.HandleFunc("GET /api/v10/guilds/{guild}/channels", s.getChannels)
	rest.HandleFunc("GET /api/v10/channels/{channel}", s.getChannel)
	rest.HandleFunc("GET /api/v10/guilds/{guild}/members", s.listMembers)
	rest.HandleFunc("GET /api/v10/guilds/{guild}/members/{user}", s.getMember)
	rest.HandleFunc("PUT /api/v10/guilds/{guild}/members/{user}/roles/{role}", s.changeRoles)
	rest.HandleFunc("DELETE /api/v10/guilds/{guild}/members/{user}/roles/{role}", s.changeRoles)
	rest.HandleFunc("POST /api/v10/channels/{channel}/messages", s.postMessage)
	rest.HandleFunc("POST /api/v10/interactions/{id}/{token}/callback", s.callback)
	rest.HandleFunc("PATCH /api/v10/webhooks/{id}/{token}/messages/@original", s.edit)
	mux.HandleFunc("/api/v10/", func(w http.ResponseWriter, r *http.Request) {
		interaction := strings.Contains(r.URL.Path, "/interactions/") || strings.Contains(r.URL.Path, "/webhooks/")
		if !interaction && r.Header.Get("Authorization") != "Bot "+Token {
			answer(w, http.StatusUnauthorized, object{"code": 0, "message": "401: Unauthorized"})
			return
		}
		limited := false
		s.change(func() {
			_, pattern := rest.Handler(r)
			s.requests[pattern]++
			if limited = s.limit > 0 && pattern == s.limited; limited {
				s.limit--
			}
		})
		if limited {
			w.Header().Set("Retry-After", "1")
			answer(w, http.StatusTooManyRequests, object{"message": "You are being rate limited.", "retry_after": 0.6, "global": false})
			return
		}
		rest.ServeHTTP(w, r)
	})
	return mux
}

func (s *Server) putCommands(w http.ResponseWriter, r *http.Request) {
	var commands []object
	if json.NewDecoder(r.Body).Decode(&commands) != nil {
		answer(w, http.StatusBadRequest, object{"code": 50035, "message": "Invalid Form Body"})
		return
	}
	var names []string
	for i, command := range commands {
		name, _ := command["name"].(string)
		names = append(names, name)
		command["id"], command["application_id"], command["version"] = strconv.Itoa(500000000000000001+i), BotID, "1"
	}
	s.change(func() { s.commands, s.puts = names, s.puts+1 })
	answer(w, http.StatusOK, commands)
}

func unknown(w http.ResponseWriter, code int) {
	answer(w, http.StatusNotFound, object{"code": code, "message": "Unknown"})
}

// in returns the guild in the path, or nil after an answer that says that it is not there. s.mu is held.
func (s *Server) in(w http.ResponseWriter, r *http.Request) *Guild {
	g := s.guilds[r.PathValue("guild")]
	if g == nil || g.absent {
		unknown(w, 10004)
		return nil
	}
	return g
}

func (s *Server) getGuild(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.in(w, r); g != nil {
		body := g.json()
		for _, name := range []string{"channels", "threads", "members", "member_count", "unavailable"} { // only the gateway sends them
			delete(body, name)
		}
		answer(w, http.StatusOK, body)
	}
}

func (s *Server) getChannels(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.in(w, r); g != nil {
		answer(w, http.StatusOK, g.json()["channels"])
	}
}

func (s *Server) getChannel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, c := s.channel(w, r); g != nil {
		answer(w, http.StatusOK, c.json(g))
	}
}

// channel returns the channel in the path and its guild, or nil after an answer that says that it is not there. s.mu is held.
func (s *Server) channel(w http.ResponseWriter, r *http.Request) (*Guild, Channel) {
	for _, g := range s.guilds {
		for _, c := range g.Channels {
			if c.ID == r.PathValue("channel") && !g.absent {
				return g, c
			}
		}
	}
	unknown(w, 10003)
	return nil, Channel{}
}

func (s *Server) listMembers(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.in(w, r)
	if g == nil {
		return
	}
	after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	var ids []int64
	for id := range g.Members {
		if n, _ := strconv.ParseInt(id, 10, 64); n > after {
			ids = append(ids, n)
		}
	}
	slices.Sort(ids)
	page := []any{}
	for _, id := range ids[:min(limit, len(ids))] {
		page = append(page, member(g, strconv.FormatInt(id, 10)))
	}
	answer(w, http.StatusOK, page)
}

func (s *Server) getMember(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.in(w, r)
	if g == nil {
		return
	}
	if _, there := g.Members[r.PathValue("user")]; !there {
		unknown(w, 10007)
		return
	}
	answer(w, http.StatusOK, member(g, r.PathValue("user")))
}

func (s *Server) changeRoles(w http.ResponseWriter, r *http.Request) {
	user, role := r.PathValue("user"), r.PathValue("role")
	s.change(func() {
		g := s.in(w, r)
		if g == nil {
			return
		}
		held, there := g.Members[user]
		if !there {
			unknown(w, 10007)
			return
		}
		if g.forbidden {
			answer(w, http.StatusForbidden, object{"code": 50013, "message": "Missing Permissions"})
			return
		}
		held = slices.DeleteFunc(slices.Clone(held), func(id string) bool { return id == role })
		if r.Method == http.MethodPut {
			held = append(held, role)
		}
		g.Members[user] = held
		s.dispatch(g.ID, "GUILD_MEMBER_UPDATE", member(g, user))
		answer(w, http.StatusNoContent, nil)
	})
}

// shown is a message as a bot sends it.
type shown struct {
	Content    string
	Flags      int
	Components []struct {
		Components []struct {
			CustomID string `json:"custom_id"`
			Disabled bool
		}
	}
	Attachments []struct{ Description string }
	Mentions    struct{ Users []string } `json:"allowed_mentions"`
}

func (m shown) reply(picture []byte) Reply {
	reply := Reply{Content: m.Content, Picture: picture, Private: m.Flags&(1<<6) != 0}
	for _, a := range m.Attachments {
		reply.Alt = a.Description
	}
	for _, row := range m.Components {
		for _, b := range row.Components {
			if !b.Disabled {
				reply.Buttons = append(reply.Buttons, b.CustomID)
			}
		}
	}
	return reply
}

func (s *Server) postMessage(w http.ResponseWriter, r *http.Request) {
	var m shown
	_ = decode(r, &m)
	s.change(func() {
		g, c := s.channel(w, r)
		switch {
		case g == nil:
		case g.forbidden:
			answer(w, http.StatusForbidden, object{"code": 50001, "message": "Missing Access"})
		default:
			s.posts = append(s.posts, Post{c.ID, m.Content, m.Mentions.Users})
			answer(w, http.StatusOK, s.message(BotID, c.ID, m.Content))
		}
	})
}

func (s *Server) callback(w http.ResponseWriter, r *http.Request) {
	var said struct {
		Type int
		Data shown
	}
	picture := decode(r, &said)
	if said.Type == 4 || said.Type == 7 {
		s.change(func() { s.replies[r.PathValue("token")] = said.Data.reply(picture) })
	} else {
		s.change(func() { s.replies[r.PathValue("token")+" deferred"] = said.Data.reply(nil) })
	}
	answer(w, http.StatusNoContent, nil)
}

func (s *Server) edit(w http.ResponseWriter, r *http.Request) {
	var m shown
	picture := decode(r, &m)
	s.change(func() {
		reply := m.reply(picture)
		reply.Private = s.replies[r.PathValue("token")+" deferred"].Private
		s.replies[r.PathValue("token")] = reply
	})
	answer(w, http.StatusOK, s.message(BotID, "400000000000000001", m.Content))
}

// decode reads JSON, or a form that holds JSON and a file, which it returns.
func decode(r *http.Request, into any) (file []byte) {
	kind, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if !strings.HasPrefix(kind, "multipart/") {
		_ = json.NewDecoder(r.Body).Decode(into)
		return nil
	}
	for parts := multipart.NewReader(r.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if err != nil {
			return file
		}
		if part.FormName() == "payload_json" {
			_ = json.NewDecoder(part).Decode(into)
		} else {
			file, _ = io.ReadAll(part)
		}
	}
}
