package levelboard

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tmaxmax/go-sse"
)

// Chat is what a bot can do in its guilds.
type Chat interface {
	// Members returns the roles of each member of a guild, by their ids.
	Members(guildID string) (map[string][]string, error)
	// Roles returns a member's roles, or an error if they have left.
	Roles(guildID, userID string) ([]string, error)
	// SetRole gives or takes a member's role.
	SetRole(guildID, userID, roleID string, given bool) error
	// Directory returns a guild as a Directory of openapi.json.
	Directory(guildID string) any
	// Announce shows the winners of a week, month or season. It is called once for each.
	Announce(guildID string, period Answer) error
}

// Bot keeps the boards of guilds like its chat, and the roles in the chat like the boards. Goroutines may share it.
type Bot struct {
	*Client
	chat   Chat
	mu     sync.Mutex // guards guilds, and what was noted in them
	guilds map[string]*guild
}

type guild struct {
	*Bot
	id        string
	followed  bool
	messages  []any
	present   map[string]bool
	directory string     // what was sent last, as JSON
	roles     sync.Mutex // held while roles change, so that the last change wins
	state     struct {   // what a file keeps
		Event     string
		Announced []string
	}
}

// NewBot returns a bot without guilds.
func NewBot(client *Client, chat Chat) *Bot {
	return &Bot{Client: client, chat: chat, guilds: map[string]*guild{}}
}

// NoteMessage notes what a member wrote, as a Message of openapi.json. Run sends it.
func (b *Bot) NoteMessage(guildID string, message any) {
	b.update(guildID, func(g *guild) { g.messages = append(g.messages, message) })
}

// NotePresence notes that a member came or left. Run sends it.
func (b *Bot) NotePresence(guildID, userID string, present bool) {
	b.update(guildID, func(g *guild) { g.present[userID] = present })
}

// Follow begins to apply a guild's events, at its first call.
func (b *Bot) Follow(guildID string) {
	b.update(guildID, func(g *guild) {
		if !g.followed {
			g.followed = true
			go g.follow()
		}
	})
}

func (b *Bot) update(guildID string, change func(*guild)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.guilds[guildID] == nil {
		b.guilds[guildID] = &guild{Bot: b, id: guildID, present: map[string]bool{}}
	}
	change(b.guilds[guildID])
}

// Run sends what was noted, once a second, and for the last time when the context ends.
func (b *Bot) Run(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-time.After(time.Second):
		}
		b.mu.Lock()
		guilds := slices.Collect(maps.Values(b.guilds))
		b.mu.Unlock()
		for _, g := range guilds {
			g.handOver()
		}
	}
}

// handOver sends what was noted, and the directory if it has changed. It drops what Call gives up.
func (g *guild) handOver() {
	directory := g.chat.Directory(g.id)
	text, _ := json.Marshal(directory)
	g.mu.Lock()
	messages, present, changed := g.messages, g.present, string(text) != g.directory
	g.messages, g.present, g.directory = nil, map[string]bool{}, string(text)
	g.mu.Unlock()
	for batch := range slices.Chunk(messages, 1000) {
		for _, change := range g.send("POST", "/messages", map[string]any{"messages": batch}).Results {
			g.change(change)
		}
	}
	users := map[bool][]string{}
	for user, is := range present {
		users[is] = append(users[is], user)
	}
	for is, all := range users {
		for batch := range slices.Chunk(all, 1000) {
			g.send("PUT", "/presence", map[string]any{"present": is, "userIds": batch})
		}
	}
	if changed {
		g.send("PUT", "/directory", directory)
	}
}

func (g *guild) send(method, path string, body any) Answer {
	answer, err := g.Call(method, "/v2/guilds/"+g.id+path, body)
	logged(err)
	return answer
}

// change gives and takes the roles of an answer or an event.
func (g *guild) change(c Answer) {
	if len(c.AddRoles)+len(c.RemoveRoles) == 0 {
		return
	}
	g.roles.Lock()
	defer g.roles.Unlock()
	held, err := g.chat.Roles(g.id, c.UserID)
	if err == nil {
		g.setRoles(c.UserID, held, c)
	}
	logged(err)
}

// setRoles gives and takes a member's roles, but for those that they hold or lack already.
func (g *guild) setRoles(userID string, held []string, c Answer) {
	for given, roles := range map[bool][]string{true: c.AddRoles, false: c.RemoveRoles} {
		for _, role := range roles {
			if slices.Contains(held, role) != given {
				logged(g.chat.SetRole(g.id, userID, role, given))
			}
		}
	}
}

// follow applies the guild's events for ever. At its start and after a reset it catches up.
func (g *guild) follow() {
	file, behind := "levelboard-"+g.id+".json", true
	text, _ := os.ReadFile(file) // there is none at the first start
	_ = json.Unmarshal(text, &g.state)
	for ; ; time.Sleep(2 * time.Second) {
		err := g.stream(g.id, g.state.Event, func(event sse.Event) error {
			if behind || event.Type == "reset" {
				if err := g.catchUp(); err != nil {
					time.Sleep(time.Minute) // the bot may have been removed from the guild
					return err
				}
				behind = false
			}
			var data Answer
			_ = json.Unmarshal([]byte(event.Data), &data) // a stream begins with an id alone
			if event.Type == "period" {
				g.announce(data)
			}
			g.change(data)
			g.state.Event = event.LastEventID
			text, _ := json.Marshal(g.state)
			return os.WriteFile(file, text, 0o600)
		})
		log.Printf("events of %s: %v", g.id, err)
	}
}

func (g *guild) announce(period Answer) {
	if period.Kind != "day" && len(period.Winners) > 0 && !slices.Contains(g.state.Announced, period.ID) {
		logged(g.chat.Announce(g.id, period))
		g.state.Announced = append(g.state.Announced, period.ID)
	}
}

// catchUp sets everybody's roles by level, notes who has left, and announces the last week, unless none was announced before.
func (g *guild) catchUp() error {
	var board []Answer
	for page := 1; len(board) == 100*(page-1); page++ {
		answer, err := g.Call("GET", fmt.Sprintf("/v2/levels/%s?page=%d", g.id, page), nil)
		if err != nil {
			return err
		}
		board = append(board, answer.Levels...)
	}
	members, err := g.chat.Members(g.id)
	if err != nil {
		return err
	}
	g.update(g.id, func(g *guild) {
		g.directory = "" // it is sent again
		for _, row := range board {
			if _, member := members[row.UserID]; !member {
				g.present[row.UserID] = false
			}
		}
	})
	changes := map[int]Answer{} // by level
	for _, row := range board {
		if _, known := changes[row.Level]; !known {
			query := fmt.Sprintf("?level=%d&userId=%s", row.Level, row.UserID)
			if changes[row.Level], err = g.Call("GET", "/v2/guilds/"+g.id+"/role-rewards/level"+query, nil); err != nil {
				return err
			}
		}
		if held, member := members[row.UserID]; member {
			g.roles.Lock()
			g.setRoles(row.UserID, held, changes[row.Level])
			g.roles.Unlock()
		}
	}
	weeks, err := g.Call("GET", "/v2/levels/"+g.id+"/periods?page=1&kind=week", nil)
	newest := slices.IndexFunc(weeks.Periods, func(week Answer) bool { return week.Closed })
	if newest >= 0 && len(g.state.Announced) > 0 {
		g.announce(weeks.Periods[newest])
	}
	return err
}

// OrNull returns a value for JSON, where a zero value is null: no avatar, no parent.
func OrNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

func logged(err error) {
	if err != nil {
		log.Print(err)
	}
}
