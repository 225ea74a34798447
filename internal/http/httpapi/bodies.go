package httpapi

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/leaderboard"
)

// The answers of /v2, field by field as the API document has them.

type user struct {
	Avatar        *string `json:"avatar"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"globalName"`
	Username      string  `json:"username"`
}

type userWithColour struct {
	AccentColour *string `json:"accentColour"`
	user
}

type pageJSON struct {
	Guild              guildJSON    `json:"guild"`
	IsManager          bool         `json:"isManager"`
	Levels             []entry      `json:"levels"`
	Multipliers        []multiplier `json:"multipliers"`
	RoleRewards        []roleReward `json:"roleRewards"`
	Vanity             *string      `json:"vanity"`
	XPGainInterval     int64        `json:"xpGainInterval"`
	XPGlobalMultiplier float64      `json:"xpGlobalMultiplier"`
	XPPerMessageMax    int          `json:"xpPerMessageMax"`
	XPPerMessageMin    int          `json:"xpPerMessageMin"`
}

type guildJSON struct {
	Icon        *string  `json:"icon"`
	ID          id.Guild `json:"id"`
	MemberCount int      `json:"memberCount"`
	Name        string   `json:"name"`
}

type entry struct {
	Level        level.Level    `json:"level"`
	MessageCount int64          `json:"messageCount"`
	NextLevelXP  level.XP       `json:"nextLevelXp"`
	Progress     float64        `json:"progress"`
	Rank         int64          `json:"rank"`
	User         userWithColour `json:"user"`
	UserID       id.User        `json:"userId"`
	XP           level.XP       `json:"xp"`
}

type multiplier struct {
	ID         string               `json:"id"`
	Multiplier float64              `json:"multiplier"`
	Targets    []any                `json:"targets"`
	Type       guild.MultiplierType `json:"type"`
}

type roleTarget struct {
	Color    *int    `json:"color"`
	ID       id.Role `json:"id"`
	Name     string  `json:"name"`
	Position int     `json:"position"`
}

type channelTarget struct {
	ID       id.Channel  `json:"id"`
	Name     string      `json:"name"`
	ParentID *id.Channel `json:"parentId"`
	Position int         `json:"position"`
	Type     int         `json:"type"`
}

type roleReward struct {
	ID    string       `json:"id"`
	Level level.Level  `json:"level"`
	Roles []roleTarget `json:"roles"`
}

// encodeSummary is what a change is answered with: {"level":{"level","messageCount","xp"}}, three numbers.
func encodeSummary(g *guild.Guild, out leaderboard.Outcome) []byte {
	b := []byte(`{"level":{"level":`)
	b = strconv.AppendInt(b, int64(g.Curve.LevelAt(out.After)), 10)
	b = append(b, `,"messageCount":`...)
	b = strconv.AppendInt(b, out.MessageCount, 10)
	b = append(b, `,"xp":`...)
	b = strconv.AppendInt(b, int64(out.After), 10)
	return append(b, `}}`...)
}

// encodeMember is what a read of a member is answered with, asked for more often than anything but changes:
// {"level":{"lastUpdated","level","messageCount","rank","xp"},"user":{"avatar","discriminator","globalName","username"}}.
func encodeMember(g *guild.Guild, m leaderboard.Ranked) []byte {
	b := make([]byte, 0, 320)
	b = append(b, `{"level":{"lastUpdated":`...)
	if m.LastUpdated.IsZero() {
		b = append(b, "null"...)
	} else {
		b = append(m.LastUpdated.UTC().AppendFormat(append(b, '"'), timeFormat), '"')
	}
	b = strconv.AppendInt(append(b, `,"level":`...), int64(g.Curve.LevelAt(m.XP)), 10)
	b = strconv.AppendInt(append(b, `,"messageCount":`...), m.MessageCount, 10)
	b = strconv.AppendInt(append(b, `,"rank":`...), m.Rank, 10)
	b = strconv.AppendInt(append(b, `,"xp":`...), int64(m.XP), 10)
	b = appendText(append(b, `},"user":{"avatar":`...), m.User.Avatar)
	b = appendText(append(b, `,"discriminator":`...), &m.User.Discriminator)
	b = appendText(append(b, `,"globalName":`...), m.User.GlobalName)
	b = appendText(append(b, `,"username":`...), &m.User.Username)
	return append(b, "}}"...)
}

func appendText(b []byte, text *string) []byte {
	if text == nil {
		return append(b, "null"...)
	}
	b, _ = jsontext.AppendQuote(b, *text) // the error tells of bytes that are no UTF-8, for which a replacement was appended
	return b
}

func userBody(u leaderboard.User) user {
	return user{Avatar: u.Avatar, Discriminator: u.Discriminator, GlobalName: u.GlobalName, Username: u.Username}
}

func pageBody(g *guild.Guild, p leaderboard.Page, manager bool) pageJSON {
	body := pageJSON{
		Guild:     guildJSON{Icon: g.Icon, ID: g.ID, MemberCount: g.MemberCount, Name: g.Name},
		IsManager: manager,
		Levels:    make([]entry, len(p.Rows)), Multipliers: make([]multiplier, len(g.Multipliers)), RoleRewards: make([]roleReward, len(g.RoleRewards)),
		XPGainInterval: g.XPGainInterval, XPGlobalMultiplier: g.XPGlobalMultiplier,
		XPPerMessageMax: g.XPPerMessageMax, XPPerMessageMin: g.XPPerMessageMin,
	}
	if g.Vanity != "" {
		body.Vanity = &g.Vanity
	}
	for i, row := range p.Rows {
		at, next, progress := g.Curve.Progress(row.XP)
		body.Levels[i] = entry{
			Level: at, MessageCount: row.MessageCount, NextLevelXP: next, Progress: progress, Rank: row.Rank,
			User: userWithColour{AccentColour: row.User.AccentColour, user: userBody(row.User)}, UserID: row.UserID, XP: row.XP,
		}
	}
	for i, m := range g.Multipliers {
		body.Multipliers[i] = multiplier{ID: m.ID, Multiplier: m.Multiplier, Targets: targets(m), Type: m.Type}
	}
	for i, r := range g.RoleRewards {
		body.RoleRewards[i] = roleReward{ID: r.ID, Level: r.Level, Roles: roleTargets(r.Roles)}
	}
	return body
}

func targets(m guild.Multiplier) []any {
	all := make([]any, 0, len(m.Channels)+len(m.Roles))
	for _, c := range m.Channels {
		all = append(all, channelTarget(c))
	}
	for _, r := range roleTargets(m.Roles) {
		all = append(all, r)
	}
	return all
}

func roleTargets(roles []guild.Role) []roleTarget {
	all := make([]roleTarget, len(roles))
	for i, r := range roles {
		all[i] = roleTarget{Color: r.Color, ID: r.ID, Name: r.Name, Position: r.Position}
	}
	return all
}

// timestamp is RFC 3339 in UTC with milliseconds; null when the time is not known.
func timestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(timeFormat)
	return &text
}

const timeFormat = "2006-01-02T15:04:05.000Z07:00"

func maxAge(d time.Duration) string { return strconv.FormatInt(int64(d.Seconds()), 10) }
