package discord

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
)

// routes are those of the REST API, in any of its versions.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	gateway := func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, map[string]any{"url": s.url, "shards": 1, "session_start_limit": map[string]any{
			"total": 1000, "remaining": 1000, "reset_after": 1000, "max_concurrency": 1,
		}})
	}
	mux.HandleFunc("GET /api/{version}/gateway", gateway)
	mux.HandleFunc("GET /api/{version}/gateway/bot", gateway)
	mux.HandleFunc("PUT /api/{version}/applications/{id}/commands", s.putCommands)
	mux.HandleFunc("GET /api/{version}/guilds/{guild}/members", s.listMembers)
	mux.HandleFunc("GET /api/{version}/guilds/{guild}/members/{user}", s.getMember)
	mux.HandleFunc("PUT /api/{version}/guilds/{guild}/members/{user}/roles/{role}", s.changeRoles)
	mux.HandleFunc("DELETE /api/{version}/guilds/{guild}/members/{user}/roles/{role}", s.changeRoles)
	mux.HandleFunc("POST /api/{version}/channels/{channel}/messages", s.postMessage)
	mux.HandleFunc("POST /api/{version}/interactions/{id}/{token}/callback", func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusNoContent, nil) })
	mux.HandleFunc("PATCH /api/{version}/webhooks/{id}/{token}/messages/@original", s.reply)
	return mux
}

func (s *Server) putCommands(w http.ResponseWriter, r *http.Request) {
	var commands []map[string]any
	if json.NewDecoder(r.Body).Decode(&commands) != nil {
		answer(w, http.StatusBadRequest, map[string]any{"code": 50035, "message": "Invalid Form Body"})
		return
	}
	var names []string
	for i, command := range commands {
		name, _ := command["name"].(string)
		names = append(names, name)
		command["id"], command["application_id"], command["version"] = "50000000000000000"+string(rune('1'+i)), BotID, "1"
	}
	s.change(func() { s.commands = names })
	answer(w, http.StatusOK, commands)
}

func (s *Server) listMembers(w http.ResponseWriter, r *http.Request) {
	all := []map[string]any{}
	s.mu.Lock()
	for id := range s.members {
		if id > r.URL.Query().Get("after") {
			all = append(all, s.member(id))
		}
	}
	s.mu.Unlock()
	answer(w, http.StatusOK, all)
}

func (s *Server) getMember(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.members[r.PathValue("user")]; !known {
		answer(w, http.StatusNotFound, map[string]any{"code": 10007, "message": "Unknown Member"})
		return
	}
	answer(w, http.StatusOK, s.member(r.PathValue("user")))
}

func (s *Server) changeRoles(w http.ResponseWriter, r *http.Request) {
	user, role := r.PathValue("user"), r.PathValue("role")
	s.change(func() {
		held := slices.DeleteFunc(s.members[user], func(id string) bool { return id == role })
		if r.Method == http.MethodPut {
			held = append(held, role)
		}
		s.members[user] = held
		s.dispatch("GUILD_MEMBER_UPDATE", s.member(user))
	})
	answer(w, http.StatusNoContent, nil)
}

func (s *Server) postMessage(w http.ResponseWriter, r *http.Request) {
	content, _ := form(r)
	s.change(func() { s.posted = append(s.posted, content) })
	answer(w, http.StatusOK, message(BotID, content))
}

func (s *Server) reply(w http.ResponseWriter, r *http.Request) {
	content, file := form(r)
	s.change(func() { s.replies[r.PathValue("token")] = Reply{content, file} })
	answer(w, http.StatusOK, message(BotID, content))
}

// form reads the content and the file of a message, which is JSON, or a form that holds JSON.
func form(r *http.Request) (content string, file []byte) {
	var payload struct{ Content string }
	kind, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if !strings.HasPrefix(kind, "multipart/") {
		_ = json.NewDecoder(r.Body).Decode(&payload)
		return payload.Content, nil
	}
	for parts := multipart.NewReader(r.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if err != nil {
			return payload.Content, file
		}
		if part.FormName() == "payload_json" {
			_ = json.NewDecoder(part).Decode(&payload)
		} else {
			file, _ = io.ReadAll(part)
		}
	}
}

func message(author, content string) map[string]any {
	return map[string]any{
		"id": snowflake(), "channel_id": ChannelID, "author": user(author), "content": content, "timestamp": joined, "edited_timestamp": nil,
		"tts": false, "mention_everyone": false, "mentions": []any{}, "mention_roles": []any{}, "attachments": []any{}, "embeds": []any{},
		"pinned": false, "type": 0, "flags": 0, "components": []any{},
	}
}
