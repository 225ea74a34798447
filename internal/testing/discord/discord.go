// Package discord is as much of Discord as a bot needs, for tests: REST under /api/v10, a gateway over a websocket with shards and with sessions that
// can be resumed, lost and cut, guilds, members, channels, threads, commands. It is the only fake of the bot's tests, and scripts/clients-check runs
// the bot of docs/examples on it.
package discord

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The bot, and the token that is right.
const (
	BotID = "100000000000000099"
	Token = "a.right.token"
)

// Server is a Discord. Its methods are safe for concurrent use.
type Server struct {
	URL string // for LEVELBOARD_BOT_DISCORD_URL

	mu       sync.Mutex
	changed  chan struct{} // is closed at each change
	guilds   map[string]*Guild
	sessions map[string]*session
	commands []string
	puts     int // of commands
	posts    []Post
	replies  map[string]Reply
	limited  string // requests to be answered with 429
	limit    int    // how many of them
	shards   int    // that bots are asked to begin
	begun    int    // sessions
	moved    bool   // there is no address for resuming
	refusal  int    // the code that closes each connection that identifies itself
	ids      int64
	requests map[string]int
}

// Guild is a guild. Change it with the server's methods.
type Guild struct {
	ID, Name, OwnerID, SystemChannelID string
	Roles                              []Role
	Channels                           []Channel
	Members                            map[string][]string // their roles
	absent                             bool                // the bot is not in it
	forbidden                          bool                // the bot may not change roles
}

// Role is a role; Permissions are Discord's bits.
type Role struct {
	ID, Name    string
	Permissions int64
}

// Channel is a channel or, with a type of 10 to 12, a thread.
type Channel struct {
	ID, Name, ParentID string
	Type               int
	Archived           bool // a thread that is not sent with the guild
}

// Post is a message of the bot.
type Post struct {
	ChannelID, Content string
	Mentions           []string // who is notified
}

// Reply is what the bot showed for a command or a button.
type Reply struct {
	Content, Alt string
	Picture      []byte
	Private      bool
	Buttons      []string // their ids, of those that can be pressed
}

// Start runs a server until the test ends.
func Start(tb testing.TB, guilds ...*Guild) *Server {
	s := &Server{
		changed: make(chan struct{}), shards: 1, guilds: map[string]*Guild{}, sessions: map[string]*session{}, replies: map[string]Reply{}, requests: map[string]int{},
	}
	for _, g := range guilds {
		s.guilds[g.ID] = g
	}
	server := httptest.NewServer(s.routes())
	s.URL = server.URL
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return s
}

// change changes the server and wakes those that wait.
func (s *Server) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait waits until is returns true, for a minute at most. is runs with the server locked.
func (s *Server) Wait(tb testing.TB, what string, is func() bool) {
	tb.Helper()
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
			tb.Fatalf("%s: not within a minute", what)
		}
	}
}

// WaitForRoles waits until a member has these roles, sorted.
func (s *Server) WaitForRoles(tb testing.TB, guildID, userID string, roles ...string) {
	tb.Helper()
	s.Wait(tb, "roles of "+userID, func() bool {
		return slices.Equal(slices.Sorted(slices.Values(s.guilds[guildID].Members[userID])), roles)
	})
}

// WaitForPost waits until the bot has written a message that holds a text, and returns it.
func (s *Server) WaitForPost(tb testing.TB, text string) (post Post) {
	tb.Helper()
	s.Wait(tb, "a message with "+text, func() bool {
		i := slices.IndexFunc(s.posts, func(p Post) bool { return strings.Contains(p.Content, text) })
		if i >= 0 {
			post = s.posts[i]
		}
		return i >= 0
	})
	return post
}

// Posts returns what the bot wrote.
func (s *Server) Posts() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.posts)
}

// WaitForCommands waits until the bot is connected and its commands are registered, and returns how often they were.
func (s *Server) WaitForCommands(tb testing.TB) (names []string, times int) {
	tb.Helper()
	s.Wait(tb, "the bot", func() bool { return s.puts > 0 && s.Connected() })
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands), s.puts
}

// Requests returns how many requests there were, by method and what they are about.
func (s *Server) Requests() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.requests)
}

// id returns a new snowflake. s.mu is held.
func (s *Server) id() string {
	s.ids++
	return strconv.FormatInt((time.Now().UnixMilli()-1420070400000)<<22+s.ids%(1<<22), 10)
}

const joined = "2026-01-01T00:00:00.000000+00:00"

type object = map[string]any

func user(id string) object {
	return object{"id": id, "username": "user-" + id, "global_name": nil, "discriminator": "0", "avatar": nil, "bot": id == BotID}
}

func member(g *Guild, id string) object {
	return object{
		"user": user(id), "roles": append([]string{}, g.Members[id]...), "joined_at": joined, "deaf": false, "mute": false, "flags": 0, "guild_id": g.ID,
	}
}

func (r Role) json(position int) object {
	return object{
		"id": r.ID, "name": r.Name, "position": position, "color": 0, "colors": object{"primary_color": 0}, "permissions": fmt.Sprint(r.Permissions),
		"hoist": false, "managed": false, "mentionable": false, "flags": 0,
	}
}

func (c Channel) isThread() bool { return c.Type >= 10 && c.Type <= 12 }

func (c Channel) json(g *Guild) object {
	o := object{"id": c.ID, "guild_id": g.ID, "name": c.Name, "type": c.Type, "position": 0, "parent_id": nil, "permission_overwrites": []any{}}
	if c.ParentID != "" {
		o["parent_id"] = c.ParentID
	}
	if c.isThread() {
		o["owner_id"], o["thread_metadata"] = g.OwnerID, object{"archived": c.Archived, "auto_archive_duration": 60, "archive_timestamp": joined, "locked": false}
	}
	return o
}

// json is the guild as GUILD_CREATE has it.
func (g *Guild) json() object {
	roles, channels, threads := []any{Role{ID: g.ID, Name: "@everyone"}.json(0)}, []any{}, []any{}
	for i, r := range g.Roles {
		roles = append(roles, r.json(i+1))
	}
	for _, c := range g.Channels {
		if c.Archived {
			continue
		}
		if c.isThread() {
			threads = append(threads, c.json(g))
		} else {
			channels = append(channels, c.json(g))
		}
	}
	return object{
		"id": g.ID, "name": g.Name, "icon": nil, "owner_id": g.OwnerID, "member_count": len(g.Members) + 1, "system_channel_id": orNull(g.SystemChannelID),
		"roles": roles, "channels": channels, "threads": threads, "members": []any{member(g, BotID)}, "unavailable": false, "large": true, "joined_at": joined,
		"emojis": []any{}, "stickers": []any{}, "features": []any{}, "voice_states": []any{}, "presences": []any{}, "preferred_locale": "en-US",
		"stage_instances": []any{}, "guild_scheduled_events": []any{}, "soundboard_sounds": []any{}, "premium_progress_bar_enabled": false,
		"system_channel_flags": 0, "afk_timeout": 300, "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0,
		"mfa_level": 0, "premium_tier": 0, "nsfw_level": 0,
	}
}

func orNull(id string) any {
	if id == "" {
		return nil
	}
	return id
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
