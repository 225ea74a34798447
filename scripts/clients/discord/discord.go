// Package discord is as much of Discord as a bot's library needs: REST, a gateway, and one guild. A program reaches it under Discord's own
// names through an HTTPS proxy, so that it runs here as it runs there.
package discord

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The ids of the guild and of who and what is in it.
const (
	GuildID   = "200000000000000001"
	BotID     = "100000000000000099"
	ChannelID = "400000000000000001"
)

// Server is a Discord with one guild.
type Server struct {
	// Proxy is the address of an HTTPS proxy that leads to the server, and CA the file of its authority.
	Proxy, CA string

	mu       sync.Mutex
	changed  chan struct{} // is closed at each change
	guild    map[string]any
	members  map[string][]string // their roles
	commands []string            // that the bot has
	posted   []string            // messages
	replies  map[string]Reply    // to commands, by the tokens of those
	gateways map[*gateway]bool
	url      string
}

// Reply is what a bot showed for a command.
type Reply struct {
	Content string
	File    []byte
}

// Start runs a server until the test ends. Its guild has these roles and members.
func Start(t *testing.T, roles, members []string) *Server {
	s := &Server{
		changed: make(chan struct{}), members: map[string][]string{}, replies: map[string]Reply{}, gateways: map[*gateway]bool{},
	}
	listed := []any{role(GuildID, "@everyone", 0)}
	for i, id := range roles {
		listed = append(listed, role(id, fmt.Sprintf("role %d", i+1), i+1))
	}
	for _, id := range members {
		s.members[id] = []string{}
	}
	s.guild = map[string]any{
		"id": GuildID, "name": "Gophers of Discord", "icon": nil, "owner_id": "100000000000000001", "member_count": len(members) + 1,
		"system_channel_id": ChannelID, "system_channel_flags": 0, "roles": listed, "large": false, "unavailable": false,
		"channels": []any{map[string]any{"id": ChannelID, "guild_id": GuildID, "name": "general", "type": 0, "position": 0, "permission_overwrites": []any{}}},
		"emojis":   []any{}, "stickers": []any{}, "features": []any{}, "threads": []any{}, "voice_states": []any{}, "presences": []any{},
		"stage_instances": []any{}, "guild_scheduled_events": []any{}, "soundboard_sounds": []any{}, "joined_at": joined, "preferred_locale": "en-US",
		"afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
		"premium_tier": 0, "nsfw_level": 0, "premium_progress_bar_enabled": false,
	}
	plain := httptest.NewServer(http.HandlerFunc(s.gateway))
	t.Cleanup(plain.Close)
	t.Cleanup(plain.CloseClientConnections)
	s.url = "ws" + strings.TrimPrefix(plain.URL, "http")
	s.startProxy(t, s.routes())
	return s
}

const joined = "2026-01-01T00:00:00.000000+00:00"

func role(id, name string, position int) map[string]any {
	return map[string]any{
		"id": id, "name": name, "position": position, "color": 0, "colors": map[string]any{"primary_color": 0}, "permissions": "0",
		"hoist": false, "managed": false, "mentionable": false, "flags": 0,
	}
}

func user(id string) map[string]any {
	return map[string]any{"id": id, "username": "user-" + id, "global_name": nil, "discriminator": "0", "avatar": nil, "bot": id == BotID}
}

// member is a member as the API shows it. s.mu is held.
func (s *Server) member(id string) map[string]any {
	return map[string]any{
		"user": user(id), "roles": slices.Clone(s.members[id]), "joined_at": joined, "deaf": false, "mute": false, "flags": 0, "guild_id": GuildID,
	}
}

// wait waits until a condition of the server is true, for a minute at most.
func (s *Server) wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.After(time.Minute); ; {
		s.mu.Lock()
		changed, done := s.changed, is()
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-end:
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// change changes the server and wakes those that wait.
func (s *Server) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

func answer(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
