package web

import (
	"slices"
	"strconv"

	"levelboard/internal/domain/displayname"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
)

const (
	// Long lists are cut, or they would be longer than the board.
	rewardsShown     = 25
	rewardsAhead     = 5
	multipliersShown = 15
	targetsShown     = 6
)

// shown is the first part of a list.
type shown[T any] struct {
	First []T
	More  int // how many are not shown
}

func firstOf[T any](list []T, most int) shown[T] {
	n := min(len(list), most)
	return shown[T]{list[:n], len(list) - n}
}

// rules are a guild's multipliers, rewards and levels, as templates/pages/leaderboard.html shows them.
type rules struct {
	*guild.Guild
	Multiplied shown[guild.Multiplier] // those with targets
	Rewarded   shown[guild.RoleReward] // those with roles
	Steps      []levelStart            // the levels that members can reach
}

type levelStart struct {
	Level level.Level
	XP    level.XP
}

func rulesOf(g *guild.Guild) rules {
	multipliers := slices.DeleteFunc(slices.Clone(g.Multipliers), func(m guild.Multiplier) bool { return len(m.Channels)+len(m.Roles) == 0 })
	rewards := slices.DeleteFunc(slices.Clone(g.RoleRewards), func(r guild.RoleReward) bool { return len(r.Roles) == 0 })
	r := rules{Guild: g, Multiplied: firstOf(multipliers, multipliersShown), Rewarded: firstOf(rewards, rewardsShown)}
	for _, l := range []level.Level{1, 10, 50} {
		if xp := g.Curve.XPFor(l); xp <= level.MaxXP {
			r.Steps = append(r.Steps, levelStart{l, xp})
		}
	}
	return r
}

func factor(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func rolesShown(roles []guild.Role) shown[guild.Role] { return firstOf(roles, targetsShown) }

func roleNames(roles []guild.Role) shown[string] {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = roleName(r)
	}
	return firstOf(names, targetsShown)
}

func roleName(r guild.Role) string { return displayname.Cut(nameOr(r.Name, r.ID), maxShown) }

// coloured reports whether a role has a colour. Chat platforms write 0 for none.
func coloured(r guild.Role) bool { return r.Color != nil && *r.Color != 0 }

func channelNames(channels []guild.Channel) shown[string] {
	names := make([]string, len(channels))
	for i, c := range channels {
		names[i] = "#" + displayname.Cut(nameOr(c.Name, c.ID), maxShown)
	}
	return firstOf(names, targetsShown)
}
