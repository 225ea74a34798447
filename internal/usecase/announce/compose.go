package announce

import (
	"cmp"
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

// mostInOne is how many messages become one.
const mostInOne = 10

// post is one request's content.
type post struct {
	text      string    // of a message, or the body of an event; empty when there is nothing to post
	mentioned []id.User // in the message
	id        string    // the same at each try
	upTo      events.ID // where the cursor is after it
	at        time.Time // of the first event in it
}

// compose returns the first post for these events: one event for a webhook, else a burst as one message.
func (d *delivery) compose(ctx context.Context, entries []events.Entry) (p post, err error) {
	said := 0
	for _, e := range entries {
		text, mentioned, err := d.say(ctx, e)
		if err != nil {
			return post{}, err
		}
		at := timeOf(e.ID)
		if text != "" && time.Since(at) > oldest {
			count(d.Kind, expired)
			text = ""
		}
		if text != "" && said > 0 {
			text = p.text + "\n" + text
			if d.Kind == announcement.Webhook || said == mostInOne || utf8.RuneCountInString(text) > announcement.MaxMessage {
				return p, nil
			}
		}
		p.upTo = e.ID
		if text == "" {
			continue
		}
		if said++; said == 1 {
			p.at, p.id = at, "msg_"+d.ID+"_"+e.ID.String()
		}
		p.text = text
		if mentioned != "" && !slices.Contains(p.mentioned, mentioned) {
			p.mentioned = append(p.mentioned, mentioned)
		}
	}
	return p, nil
}

// say returns what is posted for an event, empty if it is not announced, and the user whom that mentions. A member who is not on the board is not
// named.
func (d *delivery) say(ctx context.Context, e events.Entry) (text string, mentioned id.User, err error) {
	if d.Kind == announcement.Webhook {
		text, err = d.encode(e)
		return text, "", err
	}
	var over periods.Event
	if e.Period != "" && d.settings.On(announcement.PeriodOf) && json.Unmarshal([]byte(e.Period), &over) == nil && over.Members > 0 {
		text, err = d.winners(ctx, over)
		return text, "", err
	}
	told, ok := e.Told(d.guild)
	roles := rolesBetween(d.guild, told.PreviousLevel, told.Level)
	if !ok || told.Kind != events.LevelUp || told.Silent || told.Hidden || !d.settings.Wants(told.PreviousLevel, told.Level, roles) {
		return "", "", nil
	}
	view, err := d.board.View(ctx, d.guild, leaderboard.Look{Users: []id.User{told.UserID}})
	if err != nil || len(view.Members) == 0 {
		return "", "", err
	}
	if d.settings.Mention {
		mentioned = told.UserID
	}
	return d.settings.LevelUp(announcement.Reached{
		UserID: told.UserID, Name: nameOf(view.Members[0].User), Level: told.Level, Previous: told.PreviousLevel, XP: told.XP, Rank: view.Members[0].Rank,
		Roles: roles, Guild: d.guild.Name,
	}), mentioned, nil
}

func (d *delivery) winners(ctx context.Context, over periods.Event) (string, error) {
	closed := announcement.Closed{Period: over.ID, Guild: d.guild.Name}
	if over.Name != nil {
		closed.Period = *over.Name
	}
	rank := map[id.User]int64{}
	look := leaderboard.Look{}
	for _, w := range over.Winners {
		if w.Rank >= 1 && w.Rank <= int64(len(closed.Winners)) {
			rank[w.UserID], look.Users = w.Rank, append(look.Users, w.UserID)
		}
	}
	view, err := d.board.View(ctx, d.guild, look)
	for _, m := range view.Members {
		closed.Winners[rank[m.UserID]-1] = nameOf(m.User)
	}
	return d.settings.PeriodOver(closed), err
}

// encode returns an event as the body for a webhook.
func (d *delivery) encode(e events.Entry) (string, error) {
	name, data, err := e.Encode(d.guild)
	if err != nil || name == "" || !d.settings.On(announcement.Event(name)) {
		return "", err
	}
	data = append([]byte(`{"guildId":"`+string(d.Guild)+`",`), data[1:]...) // it is an object with properties
	body, err := json.Marshal(struct {
		Type      string         `json:"type"`
		Timestamp time.Time      `json:"timestamp"`
		Data      jsontext.Value `json:"data"`
	}{name, timeOf(e.ID), data})
	return string(body), err
}

// timeOf returns the time of an event.
func timeOf(e events.ID) time.Time { return time.UnixMilli(int64(min(e.Millis, 1<<62))).UTC() }

// rolesBetween returns the names of the roles that rewards give in a jump, each once.
func rolesBetween(g *guild.Guild, previous, reached level.Level) (names []string) {
	seen := map[id.Role]bool{}
	for _, reward := range g.RoleRewards {
		for _, role := range reward.Roles {
			if previous < reward.Level && reward.Level <= reached && !seen[role.ID] {
				seen[role.ID] = true
				names = append(names, role.Name)
			}
		}
	}
	return names
}

// nameOf returns a member's display name.
func nameOf(u leaderboard.User) string {
	global := ""
	if u.GlobalName != nil {
		global = *u.GlobalName
	}
	return cmp.Or(global, u.Username, "Somebody")
}
