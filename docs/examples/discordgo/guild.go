package main

import (
	"log"
	"net/http"
	"slices"
)

type member struct {
	UserID                string
	LeveledUp             bool
	Rank, Level, XP       int
	Gained                int
	AddRoles, RemoveRoles []string
}

type period struct {
	ID, Kind, Name string
	Closed         bool
	Winners        []member
}

// handOver sends what a second has brought.
func (b *bot) handOver(guildID string) error {
	var next news
	b.note(guildID, func(n *news) { next, *n = *n, news{present: map[string]bool{}} })
	path := "/v2/guilds/" + guildID
	if next.changed {
		if _, err := call(http.MethodPut, path+"/directory", b.directory(guildID), nil); err != nil {
			return err
		}
	}
	users := map[bool][]string{}
	for user, present := range next.present {
		users[present] = append(users[present], user)
	}
	for present, all := range users {
		for some := range slices.Chunk(all, 1000) {
			if _, err := call(http.MethodPut, path+"/presence", map[string]any{"present": present, "userIds": some}, nil); err != nil {
				return err
			}
		}
	}
	for some := range slices.Chunk(next.messages, 1000) {
		var answer struct{ Results []member }
		header, err := call(http.MethodPost, path+"/messages", map[string]any{"messages": some}, &answer)
		if err != nil {
			return err
		}
		if header.Get("Idempotent-Replayed") == "" { // such an answer may be old: the events have the roles
			b.roles.Lock()
			go func() {
				defer b.roles.Unlock()
				for _, m := range answer.Results {
					b.setRoles(guildID, m)
				}
			}()
		}
	}
	return nil
}

func (b *bot) directory(guildID string) any {
	roles, channels := []any{}, []any{}
	guild, err := b.State.Guild(guildID)
	if err != nil {
		return struct{}{}
	}
	b.State.RLock()
	defer b.State.RUnlock()
	for _, r := range guild.Roles {
		if r.ID != guildID && len(roles) < 500 {
			roles = append(roles, map[string]any{"id": r.ID, "name": r.Name, "color": orNull(r.Color), "position": r.Position})
		}
	}
	for _, c := range guild.Channels[:min(len(guild.Channels), 1000)] {
		channels = append(channels, map[string]any{"id": c.ID, "name": c.Name, "parentId": orNull(c.ParentID), "position": c.Position, "type": c.Type})
	}
	return map[string]any{"name": guild.Name, "icon": orNull(guild.Icon), "memberCount": guild.MemberCount, "roles": roles, "channels": channels}
}

// setRoles gives and takes a member's roles. b.roles is held.
func (b *bot) setRoles(guildID string, m member) {
	held := []string(nil)
	if known, err := b.State.Member(guildID, m.UserID); err == nil {
		held = known.Roles
	} else if len(m.AddRoles)+len(m.RemoveRoles) > 0 {
		known, err := b.GuildMember(guildID, m.UserID)
		if err != nil {
			return
		}
		held = known.Roles
	}
	for _, role := range m.AddRoles {
		if !slices.Contains(held, role) {
			logged(b.GuildMemberRoleAdd(guildID, m.UserID, role))
		}
	}
	for _, role := range m.RemoveRoles {
		if slices.Contains(held, role) {
			logged(b.GuildMemberRoleRemove(guildID, m.UserID, role))
		}
	}
}

func logged(err error) {
	if err != nil {
		log.Print(err)
	}
}
