package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/level"
)

const (
	// Of long lists the first are shown, or they would be longer than the board.
	rewardsShown     = 25
	multipliersShown = 15
	targetsShown     = 6
)

// rulesInWords is how XP is gained in a guild, and what for.
type rulesInWords struct {
	Sentences       []string
	Multipliers     []multiplierInWords
	MoreMultipliers int // that are not shown
	Rewards         []rewardInWords
	MoreRewards     int
}

type multiplierInWords struct {
	Factor  string // such as ×1.5
	Where   string // "in" channels, "for" roles
	Targets []string
	More    int
}

type rewardInWords struct {
	Level int
	Roles []string
	More  int
	Kept  bool // also after a higher one
}

// rulesOf leaves out multipliers of nothing and rewards of no role, which are not finished: there is nothing to say of them.
func rulesOf(g *guild.Guild) rulesInWords {
	r := rulesInWords{Sentences: sentencesOf(g)}
	for _, m := range g.Multipliers {
		shown := multiplierInWords{Factor: "×" + factor(m.Multiplier), Where: "for"}
		shown.Targets, shown.More = roleNames(m.Roles)
		if m.Type == guild.ChannelMultiplier {
			shown.Where = "in"
			shown.Targets, shown.More = channelNames(m.Channels)
		}
		switch {
		case len(shown.Targets) == 0:
		case len(r.Multipliers) == multipliersShown:
			r.MoreMultipliers++
		default:
			r.Multipliers = append(r.Multipliers, shown)
		}
	}
	for _, reward := range g.RoleRewards {
		switch {
		case len(reward.Roles) == 0:
		case len(r.Rewards) == rewardsShown:
			r.MoreRewards++
		default:
			r.Rewards = append(r.Rewards, newReward(reward))
		}
	}
	return r
}

func newReward(reward guild.RoleReward) rewardInWords {
	shown := rewardInWords{Level: int(reward.Level), Kept: reward.Stack}
	shown.Roles, shown.More = roleNames(reward.Roles)
	return shown
}

func sentencesOf(g *guild.Guild) []string {
	gain := fmt.Sprintf("%d to %d XP", g.XPPerMessageMin, g.XPPerMessageMax)
	if g.XPPerMessageMin == g.XPPerMessageMax {
		gain = fmt.Sprintf("%d XP", g.XPPerMessageMin)
	}
	all := []string{fmt.Sprintf("A message gives %s, at most once in %s.", gain, inWords(g.Cooldown()))}
	switch g.XPGlobalMultiplier {
	case 1:
	case 0:
		all = append(all, "At the moment messages give nothing: everything counts ×0.")
	default:
		all = append(all, "All of it counts ×"+factor(g.XPGlobalMultiplier)+".")
	}
	if slices.ContainsFunc(g.Multipliers, func(m guild.Multiplier) bool { return len(m.Channels)+len(m.Roles) > 0 }) {
		all = append(all, "A channel's multiplier, or else its category's, and the largest one of your roles are multiplied with it.")
	}
	if n := len(g.IgnoredChannelIDs); n > 0 {
		all = append(all, "Messages in "+counted(n, "channel")+" give nothing.")
	}
	if n := len(g.IgnoredRoleIDs); n > 0 {
		roles := "a certain role"
		if n > 1 {
			roles = "one of " + count(n) + " certain roles"
		}
		all = append(all, "Whoever has "+roles+" gains nothing.")
	}
	steps := make([]string, 0, 3)
	for _, l := range []level.Level{1, 10, 50} {
		if xp := g.Curve.XPFor(l); xp <= level.MaxXP {
			steps = append(steps, fmt.Sprintf("level %d at %s", l, count(xp)))
		}
	}
	if len(steps) > 0 {
		all = append(all, "You reach "+strings.Join(steps, ", ")+" XP.")
	}
	return all
}

func factor(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// inWords says how long a cooldown is, in the largest unit that leaves no rest.
func inWords(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return counted(int(d/time.Hour), "hour")
	case d%time.Minute == 0:
		return counted(int(d/time.Minute), "minute")
	default:
		return factor(d.Seconds()) + " seconds"
	}
}

func roleNames(roles []guild.Role) (names []string, more int) {
	for i, r := range roles {
		if i == targetsShown {
			return names, len(roles) - i
		}
		names = append(names, cut(nameOr(r.Name, r.ID), maxShown))
	}
	return names, 0
}

func channelNames(channels []guild.Channel) (names []string, more int) {
	for i, c := range channels {
		if i == targetsShown {
			return names, len(channels) - i
		}
		names = append(names, "#"+cut(nameOr(c.Name, c.ID), maxShown))
	}
	return names, 0
}
