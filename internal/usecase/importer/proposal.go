package importer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"levelboard/internal/domain/fault"
	"levelboard/internal/domain/guild"
	"levelboard/internal/domain/id"
	"levelboard/internal/domain/level"
)

// Proposal has those settings of the files that a guild can have. If files differ, the first one counts.
type Proposal struct {
	NotTaken []NotTaken

	given   map[string]jsontext.Value // properties of the guild's document, except the rewards
	rewards []guild.RoleReward        // by level; nil if the files have none
	roles   int                       // number of reward roles that were read
}

// maxRewardRoles bounds the role rewards that are read. A guild can have far fewer.
const maxRewardRoles = 2000

// NotTaken is a setting in a file that the guild cannot have.
type NotTaken struct {
	What string
	Why  string
}

// Empty reports whether there is nothing to take.
func (p *Proposal) Empty() bool { return len(p.given) == 0 && p.rewards == nil }

// in returns the properties to set in a guild, as JSON, and its curve with them. If the files have rewards, they replace
// all of the guild's. A role without a name keeps the guild's name for it, and a reward that the guild has keeps its id.
func (p *Proposal) in(now guild.Settings) ([]byte, level.Curve, error) {
	given := map[string]any{}
	for name, value := range p.given {
		given[name] = value
	}
	if p.rewards != nil {
		given["roleRewards"] = p.rewardsFor(now.RoleRewards)
	}
	document, err := json.Marshal(given, json.Deterministic(true))
	if err != nil {
		return nil, now.Curve, fmt.Errorf("take the settings of an import: %w", err)
	}
	then, wrong := now.With(document)
	if wrong.Len() > 0 {
		f := wrong.Faults[0]
		return nil, now.Curve, fault.New(fault.Invalid, "The settings in the files do not fit the guild's: %s: %s. Import without them.", f.Path, f.Rule())
	}
	return document, then.Curve, nil
}

func (p *Proposal) rewardsFor(now []guild.RoleReward) []guild.RoleReward {
	known := make(map[id.Role]guild.Role)
	for _, r := range now {
		for _, role := range r.Roles {
			known[role.ID] = role
		}
	}
	rewards := slices.Clone(p.rewards)
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

// shortly returns an id from a file for a sentence, quoted unless it is digits.
func shortly[T ~string](s T) string {
	if isDigits(string(s)) && len(s) <= 20 {
		return string(s)
	}
	return fmt.Sprintf("%.40q", string(s))
}

func (p *Proposal) preset(name string) { p.take("the curve", map[string]any{"curve": name}) }

// coefficients takes a curve if a guild can have it.
func (p *Proposal) coefficients(what string, coefficients []float64) {
	p.take(what, map[string]any{"curve": coefficients})
}

// take takes properties if a guild can have them and no earlier file has other values.
func (p *Proposal) take(what string, properties map[string]any) {
	if why := broken(properties); why != "" {
		p.refuse(what, why)
		return
	}
	for name, property := range properties {
		value, _ := json.Marshal(property) // broken has marshaled it without an error
		if had, taken := p.given[name]; taken && !bytes.Equal(had, value) {
			p.refuse(what, "an earlier file has another value, which was taken")
			continue
		}
		if p.given == nil {
			p.given = map[string]jsontext.Value{}
		}
		p.given[name] = value
	}
}

// reward adds a role to the rewards of a level. A role without a name gets its id as the name.
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
	i := slices.IndexFunc(p.rewards, func(had guild.RoleReward) bool { return had.Level == r.Level && had.Stack == stack })
	switch {
	case i < 0:
		p.rewards = append(p.rewards, r)
	case !slices.ContainsFunc(p.rewards[i].Roles, func(had guild.Role) bool { return sameRole(had, role) }):
		p.rewards[i].Roles = append(p.rewards[i].Roles, role)
	}
}

// fitRewards sorts the rewards by level. If there are more than a guild can have, it drops the highest ones.
func (p *Proposal) fitRewards() {
	slices.SortStableFunc(p.rewards, func(a, b guild.RoleReward) int { return cmp.Compare(a.Level, b.Level) })
	all, why := len(p.rewards), ""
	fit := sort.Search(all, func(i int) bool {
		rule := broken(map[string]any{"roleRewards": p.rewards[:i+1]})
		why = cmp.Or(rule, why)
		return rule != ""
	})
	if fit < all {
		p.refuse(fmt.Sprintf("the role rewards from level %d on", p.rewards[fit].Level), why)
		p.rewards = p.rewards[:fit]
	}
}

// broken returns the rule that a guild's settings with these properties break, or "".
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
