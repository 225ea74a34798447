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
	"levelboard/internal/platform/pause"
)

// follow applies the guild's events until ctx ends. Its place is stored, so that a restart misses nothing.
func (g *guild) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := g.k.Client.Stream(ctx, g.key(), g.id, g.now().Event, func(e api.Event) { g.apply(ctx, e) })
		g.log.Debug("the stream of events has ended", "error", err)
		wait := g.k.Tick
		if api.Status(err) != 0 {
			wait = retryTicks * g.k.Tick
		}
		pause.For(ctx, wait)
	}
}

func (g *guild) apply(ctx context.Context, e api.Event) {
	switch e.Type {
	case "levelup":
		g.noteRoles(e.Data.UserID)
		g.announceLevel(ctx, e)
	case "leveldown", "removed", "returned":
		g.noteRoles(e.Data.UserID)
	case "period":
		g.announcePeriod(ctx, e.Data)
	case "reset":
		g.catchUp()
	}
	if ctx.Err() == nil && e.ID != g.now().Event { // what was cut off is applied again
		g.save(func(s *state) { s.Event = e.ID })
	}
}

// channel returns where to announce, or "" for nowhere.
func (g *guild) channel(facts chat.Guild, here string) string {
	set := g.k.Announce
	switch {
	case set == "here":
		return here
	case slices.ContainsFunc(facts.Channels, func(c chat.Channel) bool { return c.ID == set }):
		return set
	}
	return ""
}

// announceLevel announces a level-up.
func (g *guild) announceLevel(ctx context.Context, e api.Event) {
	facts := g.known()
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
	m, err := g.member(ctx, e.Data.UserID)
	if err != nil || !a.Wants(r.Previous, r.Level, r.Roles) { // they may have left
		return
	}
	r.Name, r.Rank = m.name(), int64(m.Rank)
	var mentions []string
	if a.Mention {
		mentions = append(mentions, e.Data.UserID)
	}
	g.post(ctx, channel, a.LevelUp(r), mentions...)
}

// announcePeriod announces the winners of a week, month or season, once.
func (g *guild) announcePeriod(ctx context.Context, p api.EventData) {
	if slices.Contains(g.now().Announced, p.PeriodID) || p.Kind == "day" || len(p.Winners) == 0 {
		return
	}
	facts := g.known()
	if channel := g.channel(facts, facts.SystemChannelID); channel != "" {
		if a, _ := g.announcementFor(ctx, announcement.PeriodOf); a != nil {
			closed := announcement.Closed{Period: cmp.Or(p.Name, p.PeriodID), Guild: facts.Name}
			for i, w := range p.Winners[:min(len(closed.Winners), len(p.Winners))] {
				if m, err := g.member(ctx, w.UserID); err == nil && len(m.Hidden) == 0 {
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

func (g *guild) post(ctx context.Context, channel, text string, mentions ...string) {
	if text == "" {
		return
	}
	err := g.k.Chat.Post(ctx, channel, text, mentions...)
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

// document is what announcements need of the guild's document.
type document struct {
	Announcements []announcement.Announcement
	RoleRewards   []struct {
		Level level.Level
		Roles []struct{ Name string }
	}
}

// announcementState says whether an announcement is on or off.
type announcementState struct{ ID, State string }

// announcementFor returns the announcement of an event: the guild's first of the kind bot, else a plain one, unless one of the kind discord is
// on; then nil. Without the admin token they cannot be read.
func (g *guild) announcementFor(ctx context.Context, e announcement.Event) (a *announcement.Announcement, d document) {
	a = &announcement.Announcement{Kind: announcement.Bot}
	a.SetDefaults()
	if g.k.AdminToken == "" {
		return a, d
	}
	var states struct{ Announcements []announcementState }
	err := g.admin(ctx, http.MethodGet, "/guilds/"+g.id, nil, &d)
	if err == nil && len(d.Announcements) > 0 {
		err = g.admin(ctx, http.MethodGet, "/guilds/"+g.id+"/announcements", nil, &states)
	}
	if err != nil {
		g.log.Warn("the guild's announcements cannot be read; one is left out", "error", err)
		return nil, d
	}
	for i, of := range d.Announcements {
		switch {
		case !of.On(e):
		case of.Kind == announcement.Bot:
			return &d.Announcements[i], d
		case of.Kind == announcement.Discord && !slices.Contains(states.Announcements, announcementState{of.ID, "off"}):
			a = nil
		}
	}
	return a, d
}
