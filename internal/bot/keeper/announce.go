package keeper

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
)

const (
	levelAge     = 15 * time.Minute // older level-ups are no news
	settingsTime = 5 * time.Second  // how long the announcements are taken as read
)

// announcement is what the bot needs of one in the guild's document.
type announcement struct {
	ID, Kind string
	Events   []string
}

// announceSettings are the guild's announcements as last read.
type announceSettings struct {
	mu   sync.Mutex
	read time.Time
	list []announcement
	off  map[string]bool // by id
}

// channel returns where to announce, or "" for nowhere.
func (g *guild) channel(facts chat.Guild, here string) string {
	switch g.k.Announce {
	case "off":
		return ""
	case "here":
		return here
	}
	if slices.ContainsFunc(facts.Channels, func(c chat.Channel) bool { return c.ID == g.k.Announce }) {
		return g.k.Announce
	}
	return ""
}

// announceLevel announces a level-up.
func (g *guild) announceLevel(ctx context.Context, e api.Event) {
	facts, _ := g.k.chat.Guild(g.id)
	channel := g.channel(facts, e.Data.ChannelID)
	if channel == "" || e.Data.Silent || e.Data.Hidden || time.Since(e.At()) > levelAge || !g.announces.defaultFor(ctx, g, "levelup") {
		return
	}
	g.post(ctx, channel, levelText(facts, e.Data), e.Data.UserID)
}

// announcePeriod announces the winners of a week, month or season, once.
func (g *guild) announcePeriod(ctx context.Context, p api.EventData) {
	var already bool
	g.update(func() { already = slices.Contains(g.state.Announced, p.PeriodID) })
	if already || p.Kind == "day" || len(p.Winners) == 0 {
		return
	}
	facts, _ := g.k.chat.Guild(g.id)
	if channel := g.channel(facts, facts.SystemChannelID); channel != "" && g.announces.defaultFor(ctx, g, "period") {
		g.post(ctx, channel, periodText(p))
	}
	if ctx.Err() == nil {
		g.save(func(s *state) { s.Announced = append(s.Announced, p.PeriodID) })
	}
}

// announcePast announces periods that closed while the bot was away for longer than events are kept.
func (g *guild) announcePast(ctx context.Context) error {
	var answer struct {
		Periods []struct {
			ID, Kind, Name string
			End            time.Time
			Closed         bool
			Winners        []api.PeriodWinner
		}
	}
	err := g.call(ctx, api.Request{Method: http.MethodGet, Path: "/v2/levels/" + g.id + "/periods?page=1"}, &answer)
	if err != nil {
		return err
	}
	var since time.Time
	g.update(func() { since = g.state.Since })
	for _, p := range slices.Backward(answer.Periods) {
		if p.Closed && p.End.After(since) && time.Since(p.End) < 7*24*time.Hour {
			g.announcePeriod(ctx, api.EventData{PeriodID: p.ID, Kind: p.Kind, Name: p.Name, Winners: p.Winners})
		}
	}
	return nil
}

func (g *guild) post(ctx context.Context, channel, text string, mentions ...string) {
	err := g.k.chat.Post(ctx, channel, text, mentions...)
	switch {
	case err == nil:
		announced.WithLabelValues("posted").Inc()
		return
	case errors.Is(err, chat.ErrForbidden):
		g.log.Warn("the bot may not write in this channel: in the channel's settings, under Permissions, allow it to View Channel and Send Messages", "channel", channel)
	default:
		g.log.Warn("an announcement could not be posted", "channel", channel, "error", err)
	}
	announced.WithLabelValues("failed").Inc()
}

// defaultFor reports whether the bot announces an event with its default text: unless a `discord` announcement for it is on.
// Without the admin token the announcements cannot be read.
func (s *announceSettings) defaultFor(ctx context.Context, g *guild, event string) bool {
	if g.k.AdminToken == "" {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.read) > settingsTime {
		s.load(ctx, g)
	}
	return !slices.ContainsFunc(s.list, func(a announcement) bool {
		return a.Kind == "discord" && !s.off[a.ID] && slices.Contains(a.Events, event)
	})
}

// load reads the announcements; those as of before stay when that fails. s.mu is held.
func (s *announceSettings) load(ctx context.Context, g *guild) {
	var document struct{ Announcements []announcement }
	if err := g.admin(ctx, http.MethodGet, "/admin/guilds/"+g.id, nil, &document); err != nil {
		return
	}
	var states struct{ Announcements []struct{ ID, State string } }
	if len(document.Announcements) > 0 {
		if err := g.admin(ctx, http.MethodGet, "/admin/guilds/"+g.id+"/announcements", nil, &states); err != nil {
			return
		}
	}
	s.read, s.list, s.off = time.Now(), document.Announcements, map[string]bool{}
	for _, a := range states.Announcements {
		s.off[a.ID] = a.State == "off"
	}
}

// levelText is the default text of a level-up.
func levelText(facts chat.Guild, e api.EventData) string {
	text := fmt.Sprintf("<@%s> has reached level %d!", e.UserID, e.Level)
	var names []string
	for _, r := range facts.Roles {
		if slices.Contains(e.AddRoles, r.ID) {
			names = append(names, "**"+r.Name+"**")
		}
	}
	if len(names) > 0 {
		text += " They are " + strings.Join(names, ", ") + " now."
	}
	return text
}

// periodText is the default text of a closed period.
func periodText(p api.EventData) string {
	title := p.Name
	if title == "" {
		title = "The " + p.Kind + " " + p.PeriodID
	}
	text := "**" + title + " is over!**\n"
	for _, w := range p.Winners[:min(3, len(p.Winners))] {
		text += fmt.Sprintf("%d. <@%s> +%d XP\n", w.Rank, w.UserID, w.Gained)
	}
	return text
}
