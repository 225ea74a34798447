package keeper

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"levelboard/internal/bot/api"
	"levelboard/internal/bot/chat"
	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

const (
	levelAge      = 15 * time.Minute // older level-ups are no news
	documentTicks = 5                // how long the announcements are taken as read
)

// document is what announcements need of the guild's document.
type document struct {
	Announcements []announcement.Announcement
	RoleRewards   []struct {
		Level level.Level
		Roles []struct{ Name string }
	}

	read time.Time
	off  map[string]bool // announcements, by id
}

// plain is the announcement of a guild that has none.
var plain = announcement.Announcement{
	Kind: announcement.Bot, Events: []announcement.Event{announcement.LevelUp, announcement.PeriodOf}, From: 1, Every: 1, Mention: true,
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
	if channel == "" || e.Data.Silent || e.Data.Hidden || time.Since(e.At()) > levelAge {
		return
	}
	a, d := g.announcementFor(ctx, announcement.LevelUp)
	if a == nil {
		return
	}
	r := announcement.Reached{
		UserID: id.User(e.Data.UserID), Level: level.Level(e.Data.Level), Previous: level.Level(e.Data.PreviousLevel), XP: level.XP(e.Data.XP), Guild: facts.Name,
	}
	for _, reward := range d.RoleRewards {
		for _, role := range reward.Roles {
			if r.Previous < reward.Level && reward.Level <= r.Level {
				r.Roles = append(r.Roles, role.Name)
			}
		}
	}
	if !a.Wants(r.Previous, r.Level, r.Roles) {
		return
	}
	var m member
	if err := g.get(ctx, "/v2/guilds/"+g.id+"/members/"+e.Data.UserID, &m); err != nil {
		return // they have left
	}
	r.Name, r.Rank = m.name(), int64(m.Rank)
	if a.Mention {
		g.post(ctx, channel, a.LevelUp(r), e.Data.UserID)
	} else {
		g.post(ctx, channel, a.LevelUp(r))
	}
}

// announcePeriod announces the winners of a week, month or season, once.
func (g *guild) announcePeriod(ctx context.Context, p api.EventData) {
	var already bool
	g.update(func() { already = slices.Contains(g.state.Announced, p.PeriodID) })
	if already || p.Kind == "day" || len(p.Winners) == 0 {
		return
	}
	facts, _ := g.k.chat.Guild(g.id)
	if channel := g.channel(facts, facts.SystemChannelID); channel != "" {
		if a, _ := g.announcementFor(ctx, announcement.PeriodOf); a != nil {
			closed := announcement.Closed{Period: cmp.Or(p.Name, p.PeriodID), Guild: facts.Name}
			for i, w := range p.Winners[:min(len(closed.Winners), len(p.Winners))] {
				var m member
				if err := g.get(ctx, "/v2/guilds/"+g.id+"/members/"+w.UserID, &m); err == nil && len(m.Hidden) == 0 {
					closed.Winners[i] = m.name()
				}
			}
			g.post(ctx, channel, a.PeriodOver(closed))
		}
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
	if err := g.get(ctx, "/v2/levels/"+g.id+"/periods?page=1", &answer); err != nil {
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
	if text == "" {
		return
	}
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

// announcementFor returns the announcement of an event: the guild's first of the kind bot, else a plain one, unless one of the kind discord is
// on; then nil. Without the admin token they cannot be read.
func (g *guild) announcementFor(ctx context.Context, e announcement.Event) (*announcement.Announcement, document) {
	if g.k.AdminToken == "" {
		return &plain, document{}
	}
	g.announcing.Lock()
	defer g.announcing.Unlock()
	if time.Since(g.document.read) > documentTicks*g.k.Tick {
		g.readDocument(ctx)
	}
	d := g.document
	result := &plain
	for i, a := range d.Announcements {
		switch {
		case !a.On(e):
		case a.Kind == announcement.Bot:
			return &d.Announcements[i], d
		case a.Kind == announcement.Discord && !d.off[a.ID]:
			result = nil
		}
	}
	return result, d
}

// readDocument reads the announcements; those as of before stay when that fails. g.announcing is held.
func (g *guild) readDocument(ctx context.Context) {
	var d document
	var states struct{ Announcements []struct{ ID, State string } }
	err := g.admin(ctx, http.MethodGet, "/admin/guilds/"+g.id, nil, &d)
	if err == nil && len(d.Announcements) > 0 {
		err = g.admin(ctx, http.MethodGet, "/admin/guilds/"+g.id+"/announcements", nil, &states)
	}
	if err != nil {
		g.log.Warn("the guild's announcements cannot be read", "error", err)
		return
	}
	d.read, d.off = time.Now(), map[string]bool{}
	for _, a := range states.Announcements {
		d.off[a.ID] = a.State == "off"
	}
	g.document = d
}
