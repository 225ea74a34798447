package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	discord "github.com/bwmarrin/discordgo"
)

// guild is a community, with what its next second hands over.
type guild struct {
	*discord.Session
	id        string
	begin     sync.Once
	mu        sync.Mutex // guards messages and present
	messages  []object
	present   map[string]bool
	directory string     // that was sent last
	roles     sync.Mutex // is held while roles change, so that they do so in order
	state     state
}

func (g *guild) notePresence(userID string, present bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.present[userID] = present
}

func (g *guild) noteMessage(m *discord.Message) {
	message := object{"userId": m.Author.ID, "channelId": m.ChannelID, "roleIds": m.Member.Roles, "user": object{
		"username": m.Author.Username, "globalName": orNull(m.Author.GlobalName),
		"discriminator": m.Author.Discriminator, "avatar": orNull(m.Author.Avatar),
	}}
	if channel, err := g.State.Channel(m.ChannelID); err == nil {
		message["parentChannelId"] = orNull(channel.ParentID)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.messages = append(g.messages, message)
}

// handOver sends what a second has brought.
func (g *guild) handOver() {
	g.mu.Lock()
	messages, present := g.messages, g.present
	g.messages, g.present = nil, map[string]bool{}
	g.mu.Unlock()
	for some := range slices.Chunk(messages, 1000) {
		for _, result := range call("POST", "/v2/guilds/"+g.id+"/messages", object{"messages": some}).Results {
			g.setRoles(result)
		}
	}
	users := map[bool][]string{}
	for user, is := range present {
		users[is] = append(users[is], user)
	}
	for is, all := range users {
		for some := range slices.Chunk(all, 1000) {
			call("PUT", "/v2/guilds/"+g.id+"/presence", object{"present": is, "userIds": some})
		}
	}
	directory := g.describe()
	if now := fmt.Sprint(directory); now != g.directory && call("PUT", "/v2/guilds/"+g.id+"/directory", directory).ok {
		g.directory = now
	}
}

// describe returns the guild's name, icon, roles and channels.
func (g *guild) describe() object {
	guild, err := g.State.Guild(g.id)
	if err != nil {
		return object{} // nothing changes
	}
	roles, channels := []object{}, []object{}
	g.State.RLock()
	defer g.State.RUnlock()
	for _, r := range guild.Roles {
		if r.ID != g.id { // @everyone
			roles = append(roles, object{"id": r.ID, "name": r.Name, "color": orNull(r.Color), "position": r.Position})
		}
	}
	for _, c := range guild.Channels {
		channels = append(channels, object{
			"id": c.ID, "name": c.Name, "parentId": orNull(c.ParentID), "position": c.Position, "type": c.Type,
		})
	}
	return object{
		"name": guild.Name, "icon": orNull(guild.Icon), "memberCount": guild.MemberCount,
		"roles": roles, "channels": channels,
	}
}

// orNull is the value, or null in JSON if it is zero.
func orNull[T comparable](value T) any {
	if value == *new(T) {
		return nil
	}
	return value
}

// state is what a guild's file keeps: the last event, and the periods that were announced.
type state struct {
	Event     string
	Announced []string
}

// follow applies the guild's events for ever. At its start, and at a reset, it catches up.
func (g *guild) follow() {
	file, behind := "levelboard-"+g.id+".json", true
	text, _ := os.ReadFile(file) // there is none at the first start
	_ = json.Unmarshal(text, &g.state)
	for ; ; time.Sleep(2 * time.Second) {
		logged(stream(g.id, g.state.Event, func(id, kind string, e answer) error {
			if behind || kind == "reset" {
				if err := g.catchUp(); err != nil {
					return err
				}
				behind = false
			}
			if kind == "period" && e.Kind != "day" {
				g.announce(e)
			}
			g.setRoles(e)
			g.state.Event = id
			text, _ := json.Marshal(g.state)
			return os.WriteFile(file, text, 0o600)
		}))
	}
}

var errUnanswered = errors.New("catching up begins again")

// catchUp compares the board with the chat: it sets all roles by level, and notes who has left.
func (g *guild) catchUp() error {
	here, more := map[string]bool{}, true
	for last := ""; more; {
		members, err := g.GuildMembers(g.id, last, 1000)
		if err != nil {
			return err
		}
		for _, m := range members {
			here[m.User.ID], last, m.GuildID = true, m.User.ID, g.id
			logged(g.State.MemberAdd(m))
		}
		more = len(members) == 1000
	}
	var everybody []answer
	for page := 1; len(everybody) == 100*(page-1); page++ {
		rows := call("GET", fmt.Sprintf("/v2/levels/%s?page=%d", g.id, page), nil)
		if !rows.ok {
			return errUnanswered
		}
		everybody = append(everybody, rows.Levels...)
	}
	changes := map[int]answer{}
	for _, m := range everybody {
		if !here[m.UserID] {
			g.notePresence(m.UserID, false)
			continue
		}
		change, known := changes[m.Level]
		if !known {
			query := fmt.Sprintf("?level=%d&userId=%s", m.Level, m.UserID)
			if change = call("GET", "/v2/guilds/"+g.id+"/role-rewards/level"+query, nil); !change.ok {
				return errUnanswered
			}
			changes[m.Level] = change
		}
		change.UserID = m.UserID
		g.setRoles(change)
	}
	weeks := call("GET", "/v2/levels/"+g.id+"/periods?page=1&kind=week", nil).Periods
	newest := slices.IndexFunc(weeks, func(w answer) bool { return w.Closed })
	if newest >= 0 && len(g.state.Announced) > 0 {
		g.announce(weeks[newest])
	}
	return nil
}

// setRoles gives and takes the roles of a member, if they are here.
func (g *guild) setRoles(change answer) {
	if len(change.AddRoles)+len(change.RemoveRoles) == 0 {
		return
	}
	g.roles.Lock()
	defer g.roles.Unlock()
	member, err := g.State.Member(g.id, change.UserID)
	if err != nil { // seldom: the gateway has not shown the member yet
		if member, err = g.GuildMember(g.id, change.UserID); err != nil {
			return
		}
	}
	for _, role := range change.AddRoles {
		if !slices.Contains(member.Roles, role) {
			logged(g.GuildMemberRoleAdd(g.id, change.UserID, role))
		}
	}
	for _, role := range change.RemoveRoles {
		if slices.Contains(member.Roles, role) {
			logged(g.GuildMemberRoleRemove(g.id, change.UserID, role))
		}
	}
}

// announce congratulates the winners of a week, a month or a season, once.
func (g *guild) announce(p answer) {
	guild, err := g.State.Guild(g.id)
	if err != nil || guild.SystemChannelID == "" || len(p.Winners) == 0 || slices.Contains(g.state.Announced, p.ID) {
		return
	}
	g.state.Announced = append(g.state.Announced, p.ID)
	title := cmp.Or(p.Name, "The "+p.Kind+" "+p.ID)
	_, err = g.ChannelMessageSend(guild.SystemChannelID, "**"+title+" is over!**\n"+ranking(p.Winners, 3))
	logged(err)
}
