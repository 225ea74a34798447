package httpapi

import (
	"strconv"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
	"levelboard/internal/usecase/importer"
	"levelboard/internal/usecase/leaderboard"
)

// The answers of /v2. Fields are in the order of the API document.

type user struct {
	Avatar        *string `json:"avatar"`
	Discriminator string  `json:"discriminator"`
	GlobalName    *string `json:"globalName"`
	Username      string  `json:"username"`
}

type pageJSON struct {
	Guild              guildJSON    `json:"guild"`
	IsManager          bool         `json:"isManager"`
	Levels             []entry      `json:"levels"`
	Multipliers        []multiplier `json:"multipliers"`
	Period             *periodJSON  `json:"period,omitzero"`
	RoleRewards        []roleReward `json:"roleRewards"`
	Vanity             guild.Vanity `json:"vanity"`
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
	Gained       int64            `json:"gained,omitzero"` // on a period's board, if above 0
	Level        level.Level      `json:"level"`
	MessageCount int64            `json:"messageCount"`
	NextLevelXP  level.XP         `json:"nextLevelXp"`
	Progress     float64          `json:"progress"`
	Rank         int64            `json:"rank"`
	User         leaderboard.User `json:"user"`
	UserID       id.User          `json:"userId"`
	XP           level.XP         `json:"xp"`
}

type multiplier struct {
	ID         guild.UUID           `json:"id"`
	Multiplier float64              `json:"multiplier"`
	Targets    any                  `json:"targets"`
	Type       guild.MultiplierType `json:"type"`
}

type roleTarget struct {
	Color    *int    `json:"color"`
	ID       id.Role `json:"id"`
	Name     string  `json:"name"`
	Position int     `json:"position"`
}

type roleReward struct {
	ID    guild.UUID   `json:"id"`
	Level level.Level  `json:"level"`
	Roles []roleTarget `json:"roles"`
}

type summaryJSON struct {
	Level struct {
		Level        level.Level `json:"level"`
		MessageCount int64       `json:"messageCount"`
		XP           level.XP    `json:"xp"`
	} `json:"level"`
}

type memberJSON struct {
	Level struct {
		LastUpdated  *string     `json:"lastUpdated"`
		Level        level.Level `json:"level"`
		MessageCount int64       `json:"messageCount"`
		Rank         int64       `json:"rank"`
		XP           level.XP    `json:"xp"`
	} `json:"level"`
	User user `json:"user"`
}

type resultJSON struct {
	leaderboard.Gain
	AddRoles    []id.Role `json:"addRoles"`
	RemoveRoles []id.Role `json:"removeRoles"`
}

func memberBody(g *guild.Guild, m leaderboard.Ranked) memberJSON {
	body := memberJSON{User: user{m.User.Avatar, m.User.Discriminator, m.User.GlobalName, m.User.Username}}
	body.Level.LastUpdated, body.Level.Level = timestamp(m.LastUpdated), g.Curve.LevelAt(m.XP)
	body.Level.MessageCount, body.Level.Rank, body.Level.XP = m.MessageCount, m.Rank, m.XP
	return body
}

func resultsBody(g *guild.Guild, gains []leaderboard.Gain) []resultJSON {
	results := make([]resultJSON, len(gains))
	type roles struct{ add, remove []id.Role }
	at := map[level.Level]roles{} // most members who level up reach one of a few levels
	for i, gain := range gains {
		results[i].Gain = gain
		if gain.LeveledUp || gain.Created && g.HasRewardAt(0) {
			changes, known := at[gain.Level]
			if !known {
				changes.add, changes.remove = g.RoleChanges(gain.Level)
				at[gain.Level] = changes
			}
			results[i].AddRoles, results[i].RemoveRoles = changes.add, changes.remove
		}
	}
	return results
}

func pageBody(g *guild.Guild, rows []leaderboard.Ranked, manager bool) pageJSON {
	body := pageWithout(&g.Settings, manager)
	body.Levels = rankedEntries(g.Curve, rows)
	return body
}

func rankedEntries(c level.Curve, rows []leaderboard.Ranked) []entry {
	entries := make([]entry, len(rows))
	for i := range rows {
		entries[i] = entryBody(c, &rows[i])
	}
	return entries
}

// standingsBody is a page of a period, with the guild's settings at its end.
func standingsBody(s *guild.Settings, p periodJSON, rows []leaderboard.Standing, manager bool) pageJSON {
	body := pageWithout(s, manager)
	body.Period, body.Levels = &p, standingEntries(s.Curve, rows)
	return body
}

func standingEntries(c level.Curve, rows []leaderboard.Standing) []entry {
	entries := make([]entry, len(rows))
	for i := range rows {
		entries[i] = entryBody(c, &rows[i].Ranked)
		entries[i].Gained = rows[i].Gained
	}
	return entries
}

func entryBody(c level.Curve, row *leaderboard.Ranked) entry {
	at, next, progress := c.Progress(row.XP)
	return entry{
		Level: at, MessageCount: row.MessageCount, NextLevelXP: next, Progress: progress, Rank: row.Rank,
		User: row.User, UserID: row.UserID, XP: row.XP,
	}
}

// pageWithout is a page without its members.
func pageWithout(g *guild.Settings, manager bool) pageJSON {
	body := pageJSON{
		Guild:       guildJSON{Icon: g.Icon, ID: g.ID, MemberCount: g.MemberCount, Name: g.Name},
		IsManager:   manager,
		Multipliers: make([]multiplier, len(g.Multipliers)), RoleRewards: make([]roleReward, len(g.RoleRewards)),
		XPGainInterval: g.XPGainInterval, XPGlobalMultiplier: g.XPGlobalMultiplier,
		XPPerMessageMax: g.XPPerMessageMax, XPPerMessageMin: g.XPPerMessageMin, Vanity: g.Vanity,
	}
	for i, m := range g.Multipliers {
		body.Multipliers[i] = multiplier{ID: m.ID, Multiplier: m.Multiplier, Targets: targets(m), Type: m.Type}
	}
	for i, r := range g.RoleRewards {
		body.RoleRewards[i] = roleReward{ID: r.ID, Level: r.Level, Roles: roleTargets(r.Roles)}
	}
	return body
}

func targets(m guild.Multiplier) any {
	if m.Type == guild.RoleMultiplier {
		return roleTargets(m.Roles)
	}
	return m.Channels
}

func roleTargets(roles []guild.Role) []roleTarget {
	all := make([]roleTarget, len(roles))
	for i, r := range roles {
		all[i] = roleTarget{Color: r.Color, ID: r.ID, Name: r.Name, Position: r.Position}
	}
	return all
}

// timestamp returns RFC 3339 in UTC with milliseconds, or nil (null) for an unknown time.
func timestamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(importer.TimeFormat)
	return &text
}

func maxAge(d time.Duration) string { return strconv.FormatInt(int64(d.Seconds()), 10) }
