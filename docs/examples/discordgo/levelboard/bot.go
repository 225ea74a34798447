package levelboard

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	jitter "math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tmaxmax/go-sse"
)

// Chat is what a bot can do in its guilds.
type Chat interface {
	// Members returns the roles of each member of a guild who is not a bot, by their ids.
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
	id               string
	followed, behind bool // whether its events are followed, and the next one is to catch up
	messages         []any
	present          map[string]bool
	listing          bool        // present waits, as it is newer than the list of members
	directory        string      // what was sent last, as JSON
	roles            chan func() // a queue of changes, so that the last one wins
	state            struct {    // what a file keeps
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

// Follow begins to apply a guild's events. Call it again when events of the chat were missed: the bot catches up.
func (b *Bot) Follow(guildID string) {
	b.update(guildID, func(g *guild) {
		if g.behind = true; !g.followed {
			g.followed = true
			go g.follow()
			go func() {
				for change := range g.roles {
					change()
				}
			}()
		}
	})
}

func (b *Bot) update(guildID string, change func(*guild)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.guilds[guildID] == nil {
		b.guilds[guildID] = &guild{Bot: b, id: guildID, present: map[string]bool{}, roles: make(chan func(), 1000)}
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

// handOver sends messages, presence of 1,000 users each, and the directory if it has changed. It drops what Call gives up.
func (g *guild) handOver() {
	directory := g.chat.Directory(g.id)
	text, _ := json.Marshal(directory)
	users := map[bool][]string{}
	g.mu.Lock()
	for user, is := range g.present {
		if !g.listing && len(users[is]) < 1000 {
			users[is] = append(users[is], user)
			delete(g.present, user)
		}
	}
	messages, changed := g.messages, string(text) != g.directory
	g.messages, g.directory = nil, string(text)
	g.mu.Unlock()
	for batch := range slices.Chunk(messages, 500) { // with many roles, 500 are less than 1 MiB
		for _, change := range g.send("POST", "/messages", map[string]any{"messages": batch}).Results {
			if len(g.roles) < cap(g.roles) { // else only the event changes the roles
				g.change(change)
			}
		}
	}
	for is, batch := range users {
		g.send("PUT", "/presence", map[string]any{"present": is, "userIds": batch})
	}
	if changed {
		g.send("PUT", "/directory", directory)
	}
}

func (g *guild) send(method, path string, body any) Answer {
	answer, err := g.Call(method, "/v2/guilds/"+g.id+path, body)
	Log(err)
	return answer
}

// change queues the roles of an answer or an event. It waits while the queue is full.
func (g *guild) change(c Answer) {
	if len(c.AddRoles)+len(c.RemoveRoles) == 0 {
		return
	}
	g.roles <- func() {
		held, err := g.chat.Roles(g.id, c.UserID)
		if err == nil {
			g.setRoles(c.UserID, held, c)
		}
		Log(err)
	}
}

// setRoles gives and takes a member's roles, but for those that they hold or lack already.
func (g *guild) setRoles(userID string, held []string, c Answer) {
	for given, roles := range map[bool][]string{true: c.AddRoles, false: c.RemoveRoles} {
		for _, role := range roles {
			if slices.Contains(held, role) != given {
				Log(g.chat.SetRole(g.id, userID, role, given))
			}
		}
	}
}

// follow applies the guild's events for ever. At its start, after a reset, and when Follow is called again, it catches up.
func (g *guild) follow() {
	file, wait := "levelboard-"+g.id+".json", time.Second
	text, _ := os.ReadFile(file) // there is none at the first start
	_ = json.Unmarshal(text, &g.state)
	for ; ; time.Sleep(wait + jitter.N(time.Second)) {
		err := g.stream(g.id, g.state.Event, func(event sse.Event) error {
			var behind bool
			g.update(g.id, func(g *guild) { behind, g.behind = g.behind, false })
			if behind || event.Type == "reset" {
				done := make(chan error)
				g.roles <- func() { done <- g.catchUp() }
				if err := <-done; err != nil {
					g.update(g.id, func(g *guild) { g.behind, g.listing = true, false })
					wait = time.Minute // the bot may have been removed from the guild
					return err
				}
			}
			var data Answer
			_ = json.Unmarshal([]byte(event.Data), &data) // a stream begins with an id alone
			if event.Type == "period" {
				g.announce(data)
			}
			g.change(data)
			g.state.Event, wait = event.LastEventID, time.Second
			text, _ := json.Marshal(g.state)
			return os.WriteFile(file, text, 0o600)
		})
		log.Printf("events of %s: %v", g.id, err)
		wait = min(time.Minute, 2*wait)
	}
}

func (g *guild) announce(period Answer) {
	if period.Kind != "day" && len(period.Winners) > 0 && !slices.Contains(g.state.Announced, period.ID) {
		Log(g.chat.Announce(g.id, period))
		g.state.Announced = append(g.state.Announced, period.ID)
	}
}

// catchUp notes presence, sets everybody's roles by level, and announces the last week, unless none was announced before.
func (g *guild) catchUp() error {
	levels, present := map[string]int{}, map[string]bool{}
	for page, rows := 1, 100; rows == 100; page++ {
		answer, err := g.Call("GET", fmt.Sprintf("/v2/levels/%s?page=%d", g.id, page), nil)
		if err != nil {
			return err
		}
		for _, row := range answer.Levels {
			levels[row.UserID], present[row.UserID] = row.Level, false
		}
		rows = len(answer.Levels)
	}
	g.update(g.id, func(g *guild) { g.listing = true })
	members, err := g.chat.Members(g.id)
	if err != nil {
		return err
	}
	for user := range members {
		present[user] = true
	}
	g.update(g.id, func(g *guild) {
		maps.Copy(present, g.present)
		g.listing, g.present, g.directory = false, present, "" // it is sent again
	})
	changes := map[int]Answer{} // by level
	for user, held := range members {
		level, listed := levels[user]
		if !listed && len(levels) >= 100 {
			continue // they may have changed places between two pages
		}
		if _, known := changes[level]; !known {
			query := fmt.Sprintf("?level=%d&userId=%s", level, user)
			if changes[level], err = g.Call("GET", "/v2/guilds/"+g.id+"/role-rewards/level"+query, nil); err != nil {
				return err
			}
		}
		g.setRoles(user, held, changes[level])
	}
	weeks, err := g.Call("GET", "/v2/levels/"+g.id+"/periods?page=1&kind=week", nil)
	newest := slices.IndexFunc(weeks.Periods, func(week Answer) bool { return week.Closed })
	if newest >= 0 && len(g.state.Announced) > 0 {
		g.announce(weeks.Periods[newest])
	}
	return err
}

// Log logs an error, if there is one.
func Log(err error) {
	if err != nil {
		log.Print(err)
	}
}
