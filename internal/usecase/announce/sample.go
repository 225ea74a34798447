package announce

import (
	"context"
	"math/rand/v2"
	"time"

	"levelboard/internal/domain/announcement"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/events"
	"levelboard/internal/usecase/leaderboard"
)

// sample returns what a test posts: a board as it is now, or a sample event.
func (d *delivery) sample(ctx context.Context) (p post, err error) {
	if d.Kind == announcement.Board {
		d.board = d.Board
		p.text, err = d.boardText(ctx)
		return p, err
	}
	d.board = sampleBoard{}
	return d.compose(ctx, []events.Entry{d.sampleEvent()})
}

// sampleBoard finds every user.
type sampleBoard struct{ Board }

func (sampleBoard) View(_ context.Context, _ *guild.Guild, look leaderboard.Look) (v leaderboard.View, err error) {
	for i, u := range look.Users {
		named := leaderboard.User{Username: []string{"Ada", "Grace", "Linus"}[i]}
		v.Members = append(v.Members, leaderboard.Ranked{Rank: int64(i) + 1, Member: leaderboard.Member{UserID: u, User: named}})
	}
	return v, nil
}

const samplePeriod = `{"id":"2026-W48","kind":"week","name":null,"start":"2026-11-23T00:00:00Z","end":"2026-11-30T00:00:00Z","members":3,"winners":[` +
	`{"rank":1,"userId":"100000000000000001","gained":905},{"rank":2,"userId":"100000000000000002","gained":470},` +
	`{"rank":3,"userId":"100000000000000003","gained":55}]}`

// sampleEvent is the first level-up of the guild's owner that is announced, or an event of the first name that a webhook gets without level-ups.
func (d *delivery) sampleEvent() events.Entry {
	owner, low, high := d.guild.OwnerID, d.guild.Curve.XPFor(4), d.guild.Curve.XPFor(5)
	for l := range level.Level(10000) {
		if d.settings.Wants(l, l+1, rolesBetween(d.guild, l, l+1)) {
			low, high = d.guild.Curve.XPFor(l), d.guild.Curve.XPFor(l+1)
			break
		}
	}
	first := d.settings.Events[0]
	if d.settings.On(announcement.LevelUp) {
		first = announcement.LevelUp
	}
	e := map[announcement.Event]events.Entry{
		announcement.LevelUp:   {User: owner, Before: low, After: high},
		announcement.LevelDown: {User: owner, Before: high, After: low},
		announcement.Removed:   {User: owner, Moved: events.Removed},
		announcement.Returned:  {User: owner, After: high, Moved: events.Returned},
		announcement.Reset:     {Reset: events.Settings},
		announcement.PeriodOf:  {Period: samplePeriod},
	}[first]
	e.ID = events.ID{Millis: uint64(time.Now().UnixMilli()), Number: rand.Uint64()}
	return e
}
