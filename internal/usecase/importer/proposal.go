package importer

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// Proposal is the settings that files have and that a guild can have. Where files differ, the first one counts.
type Proposal struct {
	Curve              *level.Curve
	Rewards            []guild.RoleReward // by level; nil when the files have none
	XPPerMessageMin    *int
	XPPerMessageMax    *int
	XPGainInterval     *int64 // milliseconds
	XPGlobalMultiplier *float64
	NotTaken           []NotTaken

	roles int // that rewards were read of
}

// maxRewardRoles bounds the role rewards that are read; a guild can have far fewer.
const maxRewardRoles = 2000

// NotTaken is a setting of a file that the guild cannot have.
type NotTaken struct {
	What string
	Why  string
}

// Empty reports that there is nothing to take.
func (p *Proposal) Empty() bool {
	return p.Curve == nil && p.Rewards == nil && p.XPPerMessageMin == nil && p.XPPerMessageMax == nil && p.XPGainInterval == nil &&
		p.XPGlobalMultiplier == nil
}

// Apply returns the guild's settings with the proposal. Rewards replace those of the guild as a whole; a role without a name keeps the name that the
// guild knows, and a known reward its id.
func (p *Proposal) Apply(s guild.Settings) guild.Settings {
	if p.Curve != nil {
		s.Curve = *p.Curve
	}
	if p.Rewards != nil {
		s.RoleRewards = p.rewardsFor(s.RoleRewards)
	}
	assign(&s.XPPerMessageMin, p.XPPerMessageMin)
	assign(&s.XPPerMessageMax, p.XPPerMessageMax)
	assign(&s.XPGainInterval, p.XPGainInterval)
	assign(&s.XPGlobalMultiplier, p.XPGlobalMultiplier)
	return s
}

func assign[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (p *Proposal) rewardsFor(now []guild.RoleReward) []guild.RoleReward {
	known := make(map[id.Role]guild.Role)
	for _, r := range now {
		for _, role := range r.Roles {
			known[role.ID] = role
		}
	}
	rewards := slices.Clone(p.Rewards)
	for i := range rewards {
		r := &rewards[i]
		r.Roles = slices.Clone(r.Roles)
		for k, role := range r.Roles {
			if had, ok := known[role.ID]; ok && role.Name == string(role.ID) {
				r.Roles[k] = had
			}
		}
		same := func(other guild.RoleReward) bool {
			return other.Level == r.Level && slices.EqualFunc(other.Roles, r.Roles, sameRole)
		}
		if at := slices.IndexFunc(now, same); at >= 0 {
			r.ID = now[at].ID
		}
	}
	return rewards
}

func sameRole(a, b guild.Role) bool { return a.ID == b.ID }

// maxNotTaken bounds NotTaken.
const maxNotTaken = 100

func (p *Proposal) refuse(what, why string) {
	if n := (NotTaken{what, why}); len(p.NotTaken) < maxNotTaken && !slices.Contains(p.NotTaken, n) {
		p.NotTaken = append(p.NotTaken, n)
	}
}

// shortly returns an id of a file for a sentence, quoted unless it is digits.
func shortly[T ~string](s T) string {
	if isDigits(string(s)) && len(s) <= 20 {
		return string(s)
	}
	return fmt.Sprintf("%.40q", string(s))
}

func (p *Proposal) preset(name string) {
	if c, ok := level.Preset(name); ok {
		p.curve("the curve", c)
	}
}

// coefficients takes a curve unless a guild cannot have it.
func (p *Proposal) coefficients(what string, coefficients []float64) {
	c, err := level.NewCurve(coefficients)
	if err != nil {
		p.refuse(what, err.Error())
		return
	}
	p.curve(what, c)
}

func (p *Proposal) curve(what string, c level.Curve) {
	if p.Curve != nil && !p.Curve.Equal(c) {
		p.refuse(what, differs)
		return
	}
	p.Curve = &c
}

const differs = "another file says something else, which was taken"

// reward adds a role to those of a level. A role without a name gets its id as the name.
func (p *Proposal) reward(at int, stack bool, role guild.Role) {
	if p.roles++; p.roles > maxRewardRoles {
		p.refuse("the other role rewards", fmt.Sprintf("the files have more than %d", maxRewardRoles))
		return
	}
	if role.Name == "" {
		role.Name = string(role.ID)
	}
	r := guild.RoleReward{ID: guild.UUID(uuid.NewString()), Level: level.Level(at), Stack: stack, Roles: []guild.Role{role}}
	if why := broken(map[string]any{"roleRewards": []guild.RoleReward{r}}); why != "" {
		p.refuse(fmt.Sprintf("the reward of role %s at level %d", shortly(role.ID), at), why)
		return
	}
	i := slices.IndexFunc(p.Rewards, func(had guild.RoleReward) bool { return had.Level == r.Level && had.Stack == stack })
	switch {
	case i < 0:
		p.Rewards = append(p.Rewards, r)
	case !slices.ContainsFunc(p.Rewards[i].Roles, func(had guild.Role) bool { return sameRole(had, role) }):
		p.Rewards[i].Roles = append(p.Rewards[i].Roles, role)
	}
}

// fitRewards sorts the rewards by level, and leaves out the highest ones if a guild cannot have so many.
func (p *Proposal) fitRewards() {
	slices.SortStableFunc(p.Rewards, func(a, b guild.RoleReward) int { return cmp.Compare(a.Level, b.Level) })
	all, why := len(p.Rewards), ""
	fit := sort.Search(all, func(i int) bool {
		rule := broken(map[string]any{"roleRewards": p.Rewards[:i+1]})
		why = cmp.Or(rule, why)
		return rule != ""
	})
	if fit < all {
		p.refuse(fmt.Sprintf("the role rewards from level %d on", p.Rewards[fit].Level), why)
		p.Rewards = p.Rewards[:fit]
	}
}

// perMessage takes the least and the most XP for a message.
func (p *Proposal) perMessage(what string, least, most int) {
	if why := broken(map[string]any{"xpPerMessageMin": least, "xpPerMessageMax": most}); why != "" {
		p.refuse(what, why)
		return
	}
	take(p, what, &p.XPPerMessageMin, least)
	take(p, what, &p.XPPerMessageMax, most)
}

func (p *Proposal) interval(what string, milliseconds int64) {
	if why := broken(map[string]any{"xpGainInterval": milliseconds}); why != "" {
		p.refuse(what, why)
		return
	}
	take(p, what, &p.XPGainInterval, milliseconds)
}

func (p *Proposal) multiplier(what string, m float64) {
	if why := broken(map[string]any{"xpGlobalMultiplier": m}); why != "" {
		p.refuse(what, why)
		return
	}
	take(p, what, &p.XPGlobalMultiplier, m)
}

// take sets a value that no file has set before.
func take[T comparable](p *Proposal, what string, to **T, value T) {
	if *to != nil && **to != value {
		p.refuse(what, differs)
		return
	}
	*to = &value
}

// broken returns the rule that a guild's settings with these properties break, or nothing.
func broken(properties map[string]any) string {
	document, err := json.Marshal(properties)
	if err != nil {
		return "it cannot be written as settings"
	}
	if _, wrong := guild.Defaults("").With(document); wrong.Len() > 0 {
		return wrong.Faults[0].Message
	}
	return ""
}
