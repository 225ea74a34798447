package announce

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
	"levelboard/internal/usecase/periods"
)

// compose returns the first post of what happened, or one without a request when nothing of it is announced.
func (d *delivery) compose(ctx context.Context, g *guild.Guild, settings *announcement.Announcement, entries []events.Entry) (post, error) {
	nothing := post{upTo: entries[len(entries)-1].ID}
	if d.Kind == announcement.Webhook {
		for _, e := range entries {
			name, data, err := e.Encode(g)
			if err != nil {
				return post{}, err
			}
			if name != "" && settings.On(announcement.Event(name)) && !d.tooOld(e) {
				body := webhookBody(g.ID, name, at(e.ID), data)
				messageID := "msg_" + d.ID + "_" + e.ID.String()
				return post{upTo: e.ID, at: at(e.ID), make: func() (*http.Request, error) {
					return webhookRequest(settings.URL, d.Secret, messageID, body)
				}}, nil
			}
		}
		return nothing, nil
	}
	lines, err := d.lines(ctx, g, settings, entries)
	if err != nil || len(lines) == 0 {
		return nothing, err
	}
	var texts []string
	var mentioned []id.User
	for _, l := range lines {
		texts, mentioned = append(texts, l.text), append(mentioned, l.mentioned)
	}
	text, n := announcement.Burst(texts)
	message := discordMessage(text, mentioned[:n])
	return post{upTo: lines[n-1].at, at: at(lines[0].at), make: func() (*http.Request, error) {
		return newRequest(http.MethodPost, settings.URL.Reveal(), message)
	}}, nil
}

// tooOld reports whether an event is dropped for its age.
func (d *delivery) tooOld(e events.Entry) bool {
	old := time.Since(at(e.ID)) > oldest
	if old {
		count(d.Kind, expired)
	}
	return old
}

// line is what is said of an event, and whom it mentions, or "".
type line struct {
	at        events.ID
	say       func(members map[id.User]leaderboard.Ranked) string
	text      string
	mentioned id.User
}

// lines say what is announced. Who is not on the board is not spoken of.
func (d *delivery) lines(ctx context.Context, g *guild.Guild, settings *announcement.Announcement, entries []events.Entry) (lines []line, err error) {
	var users []id.User
	for _, e := range entries {
		if over, ok := periodOf(e); ok && settings.On(announcement.PeriodOf) && !d.tooOld(e) {
			for _, w := range over.Winners {
				users = append(users, w.UserID)
			}
			lines = append(lines, line{at: e.ID, say: func(members map[id.User]leaderboard.Ranked) string {
				return settings.PeriodOver(closedOf(g, over, members))
			}})
		}
		told, ok := e.Told(g)
		if !ok || told.Kind != events.LevelUp || told.Silent || told.Hidden || !settings.Wants(told.PreviousLevel, told.Level, rewardLevels(g)) || d.tooOld(e) {
			continue
		}
		l := line{at: e.ID, say: func(members map[id.User]leaderboard.Ranked) string {
			if member, there := members[told.UserID]; there {
				return settings.LevelUp(reachedOf(g, told, member))
			}
			return ""
		}}
		if settings.Mention {
			l.mentioned = told.UserID
		}
		users, lines = append(users, told.UserID), append(lines, l)
	}
	if len(users) == 0 {
		return nil, nil
	}
	slices.Sort(users)
	view, err := d.Board.View(ctx, g, leaderboard.Look{Users: slices.Compact(users)}) // readAtOnce bounds how many they are
	if err != nil {
		return nil, err
	}
	members := map[id.User]leaderboard.Ranked{}
	for _, m := range view.Members {
		members[m.UserID] = m
	}
	for i := range lines {
		lines[i].text = lines[i].say(members)
	}
	return slices.DeleteFunc(lines, func(l line) bool { return l.text == "" }), nil
}

// periodOf reads the event of a period in which somebody gained. Of the winners it keeps the first three.
func periodOf(e events.Entry) (over periods.Event, ok bool) {
	if e.Period == "" || json.Unmarshal([]byte(e.Period), &over) != nil {
		return over, false
	}
	over.Winners = slices.DeleteFunc(over.Winners, func(w periods.Winner) bool { return w.Rank < 1 || w.Rank > 3 })
	return over, over.Members > 0
}

func closedOf(g *guild.Guild, over periods.Event, members map[id.User]leaderboard.Ranked) announcement.Closed {
	c := announcement.Closed{Period: over.ID, Guild: g.Name}
	if over.Name != nil {
		c.Period = *over.Name
	}
	for _, w := range over.Winners {
		if member, there := members[w.UserID]; there {
			c.Winners[w.Rank-1] = nameOf(member.User)
		}
	}
	return c
}

func reachedOf(g *guild.Guild, told events.Told, member leaderboard.Ranked) announcement.Reached {
	return announcement.Reached{
		UserID: told.UserID, Name: nameOf(member.User), Level: told.Level, Previous: told.PreviousLevel, XP: told.XP, Rank: member.Rank,
		Roles: rolesBetween(g, told.PreviousLevel, told.Level), Guild: g.Name,
	}
}

// rolesBetween are the names of the roles of rewards whose levels lie in a jump, each once.
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

// rewardLevels are the levels at which a guild gives roles.
func rewardLevels(g *guild.Guild) (levels []level.Level) {
	for _, reward := range g.RoleRewards {
		if len(reward.Roles) > 0 {
			levels = append(levels, reward.Level)
		}
	}
	return levels
}

// nameOf is what a member is called.
func nameOf(u leaderboard.User) string {
	if u.GlobalName != nil && *u.GlobalName != "" {
		return *u.GlobalName
	}
	if u.Username != "" {
		return u.Username
	}
	return "Somebody"
}
