package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"
)

// readAgain compares the whole board with the guild: it sets roles by level, and notes who has left.
func (b *bot) readAgain(guildID string) error {
	here := map[string]bool{}
	for after, more := "", true; more; {
		some, err := b.GuildMembers(guildID, after, 1000)
		if err != nil {
			return err
		}
		for _, m := range some {
			here[m.User.ID], after = true, m.User.ID
			m.GuildID = guildID
			logged(b.State.MemberAdd(m))
		}
		more = len(some) == 1000
	}
	roles := map[int]member{}
	for page, more := 1, true; more; page++ {
		var board struct{ Levels []member }
		if _, err := call(http.MethodGet, fmt.Sprintf("/v2/levels/%s?page=%d", guildID, page), nil, &board); err != nil {
			return err
		}
		for _, m := range board.Levels {
			if !here[m.UserID] {
				b.note(guildID, func(n *news) { n.present[m.UserID] = false })
				continue
			}
			change, known := roles[m.Level]
			if !known {
				path := fmt.Sprintf("/v2/guilds/%s/role-rewards/level?level=%d&userId=%s", guildID, m.Level, m.UserID)
				if _, err := call(http.MethodGet, path, nil, &change); err != nil {
					return err
				}
				roles[m.Level] = change
			}
			change.UserID = m.UserID
			b.roles.Lock()
			b.setRoles(guildID, change)
			b.roles.Unlock()
		}
		more = len(board.Levels) == 100
	}
	return nil
}

// follow follows the guild's events for ever. Its file has the last event, and the periods that were announced.
func (b *bot) follow(guildID string) {
	file := "levelboard-" + guildID + ".json"
	var state struct {
		ID        string
		Announced []string
	}
	if data, err := os.ReadFile(file); err == nil {
		logged(json.Unmarshal(data, &state))
	}
	announce := func(p period) {
		if p.Kind != "day" && !slices.Contains(state.Announced, p.ID) {
			b.announce(guildID, p)
			state.Announced = append(state.Announced[max(0, len(state.Announced)-99):], p.ID)
		}
	}
	logged(b.readAgain(guildID))
	for {
		wait, err := stream(guildID, state.ID, func(id, event string, data []byte) {
			var change member
			var closed period
			var list struct{ Periods []period }
			switch event {
			case "period":
				logged(json.Unmarshal(data, &closed))
				announce(closed)
			case "reset":
				logged(b.readAgain(guildID))
				_, err := call(http.MethodGet, "/v2/levels/"+guildID+"/periods?page=1&kind=week", nil, &list)
				logged(err)
				newest := slices.IndexFunc(list.Periods, func(p period) bool { return p.Closed })
				if newest >= 0 && len(state.Announced) > 0 {
					announce(list.Periods[newest])
				}
			case "levelup", "leveldown", "removed", "returned":
				logged(json.Unmarshal(data, &change))
				b.roles.Lock()
				b.setRoles(guildID, change)
				b.roles.Unlock()
			}
			state.ID = id
			data, _ = json.Marshal(state)
			logged(os.WriteFile(file+".new", data, 0o600))
			logged(os.Rename(file+".new", file))
		})
		logged(err)
		time.Sleep(wait)
	}
}

// announce congratulates the winners of a week, a month or a season.
func (b *bot) announce(guildID string, p period) {
	guild, err := b.State.Guild(guildID)
	if err != nil || guild.SystemChannelID == "" {
		return
	}
	text := fmt.Sprintf("**%s is over!**\n", cmp.Or(p.Name, "The "+p.Kind+" "+p.ID))
	for _, w := range p.Winners[:min(3, len(p.Winners))] {
		text += fmt.Sprintf("%d. <@%s> +%d XP\n", w.Rank, w.UserID, w.Gained)
	}
	_, err = b.ChannelMessageSend(guild.SystemChannelID, text)
	logged(err)
}
